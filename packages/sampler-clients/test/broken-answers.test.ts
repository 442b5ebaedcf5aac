/**
 * Bytes that are not what a server should have written: cut, mutated, imitated, in another order. The fast way into an
 * answer says what the plain parse says, its oracle, word for word and bit for bit.
 */
import { describe, expect, test } from "bun:test";
import {
  ASKED,
  cutsOf,
  expectSame,
  fast,
  LISTS,
  NAMES,
  plainly,
  PROMPT,
  RECORDED,
} from "./support/both-ways.ts";
import { drawer, mutate } from "./support/mutate.ts";
import { replyWith, WIRES, type WrittenSample } from "./support/wire-answers.ts";

const two: readonly WrittenSample[] = [
  {
    ids: ["5", "6", "70000"],
    logprobs: ["-0.5", "-1.1920928955078125e-07", "-7.843177318572998"],
    text: 'a "b" [c]',
  },
  { ids: ["8", "0"], logprobs: ["0.0", "-0.710861086845398"], text: "é🙂" },
];

describe.each(NAMES)("%s", (name) => {
  const { write } = WIRES[name];
  const prompt = PROMPT.join(",");
  const whole = write(two, prompt);

  test("a whole answer with another status is none", () => {
    for (const status of [201, 400, 429, 500, 503]) {
      const reply = { ...replyWith(whole), status };
      const read = fast(WIRES[name], reply, ASKED);
      expect(read).toMatchObject({ ok: false });
      expect(read).toEqual(plainly(WIRES[name], reply, ASKED));
    }
  });

  test("an answer that is cut anywhere is no answer", () => {
    const bytes = new TextEncoder().encode(whole);
    for (let length = 0; length < bytes.length; length += 1) {
      // The whole one first, so that its bytes lie behind those of the part.
      expectSame(name, bytes);
      const read = fast(WIRES[name], replyWith(bytes.slice(0, length)), ASKED);
      expect(read).toMatchObject({ ok: false, cause: "server_error" });
    }
  });

  test("any one byte that is another is seen, or changes nothing", () => {
    const bytes = new TextEncoder().encode(whole);
    for (let place = 0; place < bytes.length; place += 1) {
      for (const byte of [34, 44, 48, 57, 45, 91, 93, 0, 255]) {
        expectSame(name, bytes.with(place, byte));
      }
    }
  });

  test("thousands of broken answers read the same both ways", () => {
    const draw = drawer(20_261_130);
    const real = RECORDED.filter((one) => one.name === name && one.reply.bytes.length < 20_000);
    let read = 0;
    let cut = 0;
    for (let times = 0; times < 3_000; times += 1) {
      const from = draw(3) === 0 ? null : real[draw(real.length)]!;
      const bytes = mutate(from?.reply.bytes ?? new TextEncoder().encode(whole), draw);
      const asked = from?.asked ?? ASKED;
      const reply = replyWith(bytes);
      const plain = plainly(WIRES[name], reply, asked);
      expect(fast(WIRES[name], reply, asked)).toEqual(plain);
      read += Array.isArray(plain) ? 1 : 0;
      cut += Array.isArray(plain) && cutsOf(name, bytes) > 0 ? 1 : 0;
    }
    // Many are still JSON, and of those most are cut, so that something was compared.
    expect(read).toBeGreaterThan(500);
    expect(cut).toBeGreaterThan(400);
  });

  test("a text that looks like lists is no list", () => {
    const fake =
      '"token_ids":[9,9],"output_ids":[9],"content":[],"tokens":["token_id:9"],{"cut":0}';
    for (const said of [
      fake,
      JSON.stringify(fake),
      `\\${fake}`,
      `\\"${fake}`,
      `"${fake}`,
      `]}${fake}`,
    ]) {
      const answer = write(
        two.map((sample) => ({ ...sample, text: said })),
        prompt,
      );
      expect(cutsOf(name, answer)).toBe(2 * LISTS[name]);
      expectSame(name, answer);
    }
  });

  test("names in another order, twice, elsewhere or longer are read as JSON reads them", () => {
    const other = write(
      [{ ids: ["1", "2"], logprobs: ["-3.5", "-4.5"], text: "" }, two[1]!],
      prompt,
    );
    for (const list of listsIn(whole)) {
      for (const another of listsIn(other)) {
        if (nameOf(another) !== nameOf(list)) continue;
        const longer = `"x\\${another}`;
        const nested = `"nested":{${another}}`;
        for (const extra of [
          another,
          longer,
          nested,
          `"other":null`,
          `"other":[${another.length}]`,
        ]) {
          expectSame(name, whole.replace(list, `${list},${extra}`));
          expectSame(name, whole.replace(list, `${extra},${list}`));
        }
      }
      expectSame(name, whole.replace(list, `"gone":0`));
      expectSame(name, whole.replace(list, list.replace(":[", ": [")));
      expectSame(name, whole.replace(list, list.replace("]", ",]")));
      expectSame(name, whole.replace(list, list.replace("[", "[,")));
      // The name at the end of a text, and lists where no list may stand.
      expectSame(name, whole.replace(list, `"x":"y${list}`));
      expectSame(name, whole.replace(list, `"x":["y",${list}]`));
    }
  });
});

/** The lists of a written answer with their names. */
function listsIn(answer: string): readonly string[] {
  const names = [
    "token_ids",
    "content",
    "token_logprobs",
    "tokens",
    "output_ids",
    "output_token_logprobs",
  ];
  return names.flatMap((name) => {
    const start = answer.indexOf(`"${name}":[`);
    if (start === -1) return [];
    let end = answer.indexOf("[", start);
    let depth = 0;
    do {
      if (answer[end] === "[") depth += 1;
      if (answer[end] === "]") depth -= 1;
      end += 1;
    } while (depth > 0);
    return [answer.slice(start, end)];
  });
}

function nameOf(list: string): string {
  return list.slice(0, list.indexOf(":"));
}
