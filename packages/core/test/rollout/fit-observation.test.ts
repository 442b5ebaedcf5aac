/**
 * Fitting always ends, keeps both limits, keeps the longest tail where counts are monotone, and costs
 * what is kept. Protocols here count characters, or as a test says.
 */
import { describe, expect, test } from "bun:test";
import * as fc from "fast-check";
import { fitObservation, TRUNCATION_LINE, type Protocol } from "../../src/index.ts";
import { toyProtocol, TOY_WRAPPER } from "../support/toy-protocol.ts";

const LINE = `${TRUNCATION_LINE}\n`; // 20 characters

type Fit = {
  readonly content: string;
  readonly response?: number;
  readonly trajectory?: number;
  readonly next?: number;
  readonly prompt?: number;
  readonly completion?: readonly number[];
};

function fit(protocol: Protocol, options: Fit): ReturnType<typeof fitObservation> {
  return fitObservation(
    protocol,
    {
      maxToolResponseTokens: options.response ?? 100,
      maxTrajectoryTokens: options.trajectory ?? 10_000,
      minNextTurnTokens: options.next ?? 1,
    },
    {
      content: options.content,
      completion: Int32Array.from(options.completion ?? [300]),
      promptLength: options.prompt ?? 10,
      toolStep: 0,
    },
  );
}

/** One token for each code point. */
function byCodePoint(): Protocol {
  const codes = (text: string): number[] => Array.from(text, (c) => c.codePointAt(0) as number);
  return {
    ...toyProtocol(),
    countPlain: (text) => codes(text).length,
    joinObservation: (_completion, content) => Int32Array.from(codes(content)),
  };
}

describe("one token a character", () => {
  test("what fits is taken as it is, to the last token of either limit", () => {
    const content = "x".repeat(100);
    expect(fit(toyProtocol(), { content })).toMatchObject({
      fits: true,
      content,
      truncated: false,
    });
    const exact = 10 + 1 + 100 + TOY_WRAPPER + 1;
    expect(fit(toyProtocol(), { content, trajectory: exact })).toMatchObject({ content });
    expect(fit(toyProtocol(), { content, trajectory: exact - 1 })).toMatchObject({
      fits: true,
      content: LINE + "x".repeat(79),
      truncated: true,
    });
  });

  test("an empty observation fits as it is, or not at all", () => {
    expect(fit(toyProtocol(), { content: "" })).toMatchObject({ fits: true, content: "" });
    expect(fit(toyProtocol(), { content: "", trajectory: 12 })).toEqual({ fits: false });
  });

  test("the tail is kept, and its length is the most that the response limit leaves", () => {
    const content = `${"a".repeat(300)}the end`;
    expect(fit(toyProtocol(), { content })).toMatchObject({
      fits: true,
      content: LINE + content.slice(-80),
      truncated: true,
    });
  });

  test("65 characters at a limit that does not hold them: the described system never ends here", () => {
    const content = "0123456789".repeat(7).slice(0, 65);
    expect(fit(toyProtocol(), { content, response: 64 })).toMatchObject({
      content: LINE + content.slice(-44),
    });
    expect(fit(toyProtocol(), { content, response: 20 })).toEqual({ fits: false });
    expect(fit(toyProtocol(), { content, response: 21 })).toMatchObject({ content: `${LINE}4` });
  });

  test("no room at all is no fit, also when the prompt is already too long", () => {
    expect(fit(toyProtocol(), { content: "x", prompt: 10_000 })).toEqual({ fits: false });
    expect(fit(toyProtocol(), { content: "x", prompt: 20_000 })).toEqual({ fits: false });
  });

  test("room for the next turn is kept", () => {
    const limit = 10 + 1 + 5 + TOY_WRAPPER;
    const content = "12345";
    expect(fit(toyProtocol(), { content, trajectory: limit, next: 0 })).toMatchObject({ content });
    expect(fit(toyProtocol(), { content, trajectory: limit, next: 1 })).toEqual({ fits: false });
  });
});

test("a tail is cut between code points", () => {
  const content = "🙂".repeat(300);
  expect(fit(byCodePoint(), { content })).toMatchObject({ content: LINE + "🙂".repeat(80) });
  const mixed = `${"🙂".repeat(100)}x${"🙂".repeat(50)}`;
  const kept = fit(byCodePoint(), { content: mixed, response: 72 });
  expect(kept).toMatchObject({ content: `${LINE}🙂x${"🙂".repeat(50)}` });
  expect(fit(byCodePoint(), { content: "🙂🙂", response: 1 })).toEqual({ fits: false });
});

test("the longest tail of every content, by brute force", () => {
  const content = fc.string({ unit: fc.constantFrom("a", "\n", "🙂"), maxLength: 120 });
  fc.assert(
    fc.property(content, fc.nat(60), fc.nat(60), (text, response, room) => {
      const points = Array.from(text);
      const holds = (kept: string): boolean => {
        const count = Array.from(kept).length;
        return count <= response && count <= room;
      };
      const tails = points.slice(1).map((_, i) => LINE + points.slice(i + 1).join(""));
      const wanted = holds(text) ? text : tails.find(holds);
      const seen = fit(byCodePoint(), { content: text, response, trajectory: 12 + room });
      if (wanted === undefined) expect(seen).toEqual({ fits: false });
      else expect(seen).toMatchObject({ fits: true, content: wanted, truncated: wanted !== text });
    }),
    { numRuns: 500 },
  );
});

test("whatever tokens may cost, it ends, and what it keeps fits", () => {
  // A count that depends on the text without any order: worse than any tokenizer.
  const chaotic = (salt: number) => (text: string) => {
    let hash = salt;
    for (let i = 0; i < text.length; i += 7) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
    return Math.max(1, Math.round(text.length * (0.2 + ((hash >>> 0) % 1000) / 1000)));
  };
  const content = fc.string({ unit: fc.constantFrom("a", "b", "🙂"), maxLength: 3000 });
  fc.assert(
    fc.property(content, fc.integer(), fc.integer({ min: 1, max: 300 }), (text, salt, response) => {
      let calls = 0;
      const count = chaotic(salt);
      const protocol: Protocol = {
        ...toyProtocol(),
        countPlain: (kept) => {
          calls++;
          return count(kept);
        },
        joinObservation: (_completion, kept) => new Int32Array(count(kept) + 3),
      };
      const seen = fit(protocol, { content: text, response, trajectory: 500, prompt: 100 });
      expect(calls).toBeLessThan(60);
      if (!seen.fits) return;
      expect(count(seen.content)).toBeLessThanOrEqual(response);
      expect(100 + 1 + seen.delta.length + 1).toBeLessThanOrEqual(500);
      const tail = seen.truncated ? seen.content.slice(LINE.length) : seen.content;
      expect(text.endsWith(tail)).toBe(true);
      if (seen.truncated) expect(tail.length).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});

test("what is encoded follows what is kept, not what was printed", () => {
  const encoded = (length: number): number => {
    let characters = 0;
    const toy = toyProtocol();
    const protocol: Protocol = {
      ...toy,
      countPlain: (text) => {
        characters += text.length;
        return toy.countPlain(text);
      },
      joinObservation: (completion, text, step) => {
        characters += text.length;
        return toy.joinObservation(completion, text, step);
      },
    };
    const seen = fit(protocol, { content: "x".repeat(length), response: 512 });
    expect(seen.fits && seen.content.length).toBe(512);
    return characters;
  };
  expect(encoded(1 << 24)).toBe(encoded(1 << 14));
  expect(encoded(1 << 24)).toBeLessThan(512 * 20);
});
