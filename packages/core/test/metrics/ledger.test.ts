import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  buildLedger,
  checkLedger,
  fail,
  ledgerFromJson,
  ledgerToJson,
  NO_DATUM_REASONS,
  prepareStep,
  TERMINATIONS,
  type Ledger,
} from "../../src/index.ts";
import {
  handGroup,
  NO_BOX,
  RIGHT,
  UNSCORED,
  WRONG,
  type HandMember,
} from "../support/hand-built.ts";

const LOST = fail("sampler", "server_error", "HTTP 503 after 4 tries");

const groups = [
  handGroup(0, [
    { turns: [{ before: [1], sampled: [2, 3] }], grade: RIGHT },
    {
      turns: [{ before: [1], sampled: [2, 3, 4], finish: "length", invalidCause: "unclosed_call" }],
      grade: WRONG,
      termination: "invalid_format",
    },
    {
      turns: [{ before: [1], sampled: [2], textMismatch: true }],
      grade: UNSCORED,
      termination: "sampler_failed",
      failure: LOST,
    },
    { turns: [{ before: [1], sampled: [2, 3, 4, 5] }], grade: UNSCORED },
    { turns: [{ before: [1], sampled: [] }], grade: NO_BOX },
  ]),
  handGroup(1, [{ turns: [{ before: [1], sampled: [9] }], grade: WRONG }]),
];

describe("a ledger", () => {
  const step = prepareStep(groups, { maxContextTokens: 100 });
  // Three groups of … were asked for; the third never came back.
  const ledger = buildLedger(step, { asked: 9, retries: { sampler: 4 } });

  test("balances, by cause, in trajectories and in sampled tokens", () => {
    expect(ledger).toEqual({
      trajectories: {
        total: 9,
        exported: 2,
        dropped: {
          "unscored:sampler_failed:server_error": 1,
          "unscored:answer:grader_timeout": 1,
          no_completion_tokens: 1,
          zero_advantage: 1,
          not_finished: 3,
        },
      },
      sampledTokens: {
        total: 11,
        exported: 5,
        dropped: {
          "unscored:sampler_failed:server_error": 1,
          "unscored:answer:grader_timeout": 4,
          no_completion_tokens: 0,
          zero_advantage: 1,
          not_finished: 0,
        },
      },
      terminations: { answer: 4, invalid_format: 1, sampler_failed: 1 },
      invalidTurns: { unclosed_call: 1 },
      truncatedTurns: 1,
      truncatedObservations: 0,
      textMismatches: 1,
      sandboxRuns: { joined: 0, notJoined: 0 },
      retries: { sampler: 4 },
    });
    expect(checkLedger(ledger)).toEqual([]);
  });

  test("counts groups that were set aside by their cause", () => {
    const [first, second] = groups;
    if (first === undefined || second === undefined) throw new Error("two groups");
    const kept = prepareStep([first], { maxContextTokens: 100 });
    const aside = buildLedger(kept, { asked: 6, setAside: { filtered: second.members } });
    expect(aside.trajectories.dropped["filtered"]).toBe(1);
    expect(aside.sampledTokens.dropped["filtered"]).toBe(1);
    expect(checkLedger(aside)).toEqual([]);
  });

  test("refuses more trajectories than were asked for", () => {
    expect(() => buildLedger(step, { asked: 5 })).toThrow("at most the 5 trajectories");
  });

  test("comes back from its JSON", () => {
    const json = JSON.parse(JSON.stringify(ledgerToJson(ledger)));
    expect(json.sampled_tokens.total).toBe(11);
    expect(ledgerFromJson(json)).toEqual(ledger);
    expect(() => ledgerFromJson({ ...json, truncated_turns: -1 })).toThrow("truncated_turns");
  });
});

describe("an unbalanced ledger is told", () => {
  const good = buildLedger(prepareStep(groups, { maxContextTokens: 100 }), { asked: 6 });
  const cases: readonly (readonly [string, Ledger, string])[] = [
    [
      "a lost trajectory",
      { ...good, trajectories: { ...good.trajectories, total: 7 } },
      "trajectories: 7 in, but 2 exported + 4 dropped = 6",
    ],
    [
      "tokens that vanish",
      { ...good, sampledTokens: { ...good.sampledTokens, exported: 4 } },
      "sampledTokens: 11 in, but 4 exported + 6 dropped = 10",
    ],
    ["an end too few", { ...good, terminations: { answer: 5 } }, "but 5 ends are counted"],
    [
      "a count that is none",
      { ...good, trajectories: { total: 6, exported: 6, dropped: { a: -1, b: 1 } } },
      "trajectories, a: expected a count, got -1",
    ],
  ];
  test.each(cases)("%s", (_, ledger, sentence) => {
    expect(checkLedger(ledger).join("\n")).toContain(sentence);
  });
});

const member: fc.Arbitrary<HandMember> = fc.record({
  turns: fc.array(
    fc.record({
      before: fc.array(fc.nat(255), { minLength: 1, maxLength: 4 }),
      sampled: fc.array(fc.nat(255), { maxLength: 5 }),
    }),
    { maxLength: 4 },
  ),
  grade: fc.constantFrom(RIGHT, WRONG, NO_BOX, UNSCORED),
  termination: fc.constantFrom(...TERMINATIONS),
  failure: fc.constantFrom(null, LOST),
});

test("whatever happened, the ledger balances and every trajectory is in it once", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(member, { minLength: 1, maxLength: 5 }), { maxLength: 6 }),
      fc.nat(20),
      fc.integer({ min: 1, max: 20 }),
      (worlds, missing, maxContextTokens) => {
        const made = worlds.map((members, question) => handGroup(question, members));
        const step = prepareStep(made, { maxContextTokens });
        const members = made.flatMap((group) => group.members);
        const ledger = buildLedger(step, { asked: members.length + missing });
        expect(checkLedger(ledger)).toEqual([]);
        const sampled = members.flatMap(({ turns }) => turns).map(({ length }) => length);
        expect(ledger.sampledTokens.total).toBe(sampled.reduce((sum, length) => sum + length, 0));
        for (const cause of Object.keys(ledger.trajectories.dropped)) {
          const [head] = cause.split(":");
          expect([...NO_DATUM_REASONS, "not_finished"]).toContain(head ?? "");
        }
      },
    ),
  );
});
