import { afterEach, beforeEach, describe, expect, test, setDefaultTimeout } from "bun:test";
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, type Event } from "@interlace/core";
import { openFileEventLog } from "../../src/event-log/file-event-log.ts";
import { readEventLog } from "../../src/event-log/read-event-log.ts";
import { ALL, BROKEN, EXECUTED, SAMPLED } from "./events.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "interlace-log-"));
  path = join(folder, "events.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A clock that ticks by one at every look. */
function ticking(start = 1000): () => number {
  let time = start;
  return () => time++;
}

async function writeAll(): Promise<void> {
  await using log = openFileEventLog(path, { from: null, now: ticking() });
  log.mark({ type: "opened", run_id: "r", step: 0, config_hash: "h" });
  for (const event of ALL) log.append(event);
  log.mark({ type: "closed" });
  await log.sync();
}

const lines = (): string[] => readFileSync(path, "utf8").split("\n");

describe("what is written", () => {
  test("every kind of event comes back as it was, to the bit", async () => {
    await writeAll();
    const read = await readEventLog(path);
    expect(read.events).toEqual(ALL);
    const [first] = read.events[0]?.type === "sampled" ? read.events[0].sequences : [];
    expect(first?.ok === true && Object.is(first.logprobs[0], -0)).toBe(true);
    expect(read.marks.map(({ type }) => type)).toEqual(["opened", "closed"]);
    expect(read).toMatchObject({ lines: 8, bytes: statSync(path).size, tornBytes: 0 });
  });

  test("one line has the frame, the key, and ids and logprobs as base64 of little-endian words", async () => {
    await writeAll();
    const line = JSON.parse(lines()[1] ?? "") as Record<string, unknown>;
    expect(line).toMatchObject({ v: 1, seq: 1, type: "sampled" });
    expect(line["key"]).toEqual({ step: 0, question: 3, group: null, turn: 0 });
    const [sequence] = line["sequences"] as { ids: string; logprobs: string }[];
    // 1, −1, 2^31 − 1
    expect(Buffer.from(sequence?.ids ?? "", "base64").toString("hex")).toBe(
      "01000000ffffffffffffff7f",
    );
    // float32: −0, −0.1
    expect(Buffer.from(sequence?.logprobs ?? "", "base64").toString("hex")).toStartWith(
      "00000080cdccccbd",
    );
  });

  test("a line tells when its command was issued and when the answer came", async () => {
    await using log = openFileEventLog(path, { from: null, now: ticking(5000) });
    log.issued({ type: "execute", key: EXECUTED.key, request: { id: "code-3-1-1", code: "" } });
    log.append(EXECUTED);
    await log.flush();
    expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ started: 5000, t: 5001 });
    const times = { started: 5000, ended: 5001 };
    expect((await readEventLog(path)).times.get("executed 0/3/1/1")).toEqual(times);
    expect(log.times.get("executed 0/3/1/1")).toEqual(times);
  });

  test("lines are whole whatever their size, and however many wait", async () => {
    const printed = ["x", "é", "\u2028", "🙂", "\ud800"].flatMap((character) =>
      [10, 300_000, 2_000_000, 1].map((length) => character.repeat(length)),
    );
    const events = printed.map((text, turn): Event => ({
      type: "executed",
      key: { ...BROKEN.key, turn },
      result: fail("sandbox", "sandbox_error", text),
    }));
    await using log = openFileEventLog(path, { from: null, now: ticking() });
    for (const event of events) log.append(event);
    await log.flush();
    const read = await readEventLog(path);
    expect(read.lines).toBe(events.length);
    expect(Bun.deepEquals(read.events, events)).toBe(true);
  });

  test("a file that is there is never written over", async () => {
    writeFileSync(path, "precious");
    expect(() => openFileEventLog(path, { from: null, now: ticking() })).toThrow("Cannot write");
    expect(readFileSync(path, "utf8")).toBe("precious");
  });
});

describe("what is read", () => {
  test("a torn last line is left out, and cut off when the log goes on", async () => {
    await writeAll();
    const whole = statSync(path).size;
    appendFileSync(path, '{"v":1,"seq":8,"t":1,"type":"gra');
    const read = await readEventLog(path);
    expect(read).toMatchObject({ lines: 8, bytes: whole, tornBytes: 32 });
    {
      await using log = openFileEventLog(path, { from: read, now: ticking() });
      log.mark({ type: "resumed" });
    }
    const again = await readEventLog(path);
    expect(again).toMatchObject({ lines: 9, tornBytes: 0 });
    expect(again.events).toEqual(ALL);
  });

  test("every possible torn end is left out", async () => {
    await writeAll();
    const bytes = readFileSync(path);
    const last = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
    for (let end = last; end < bytes.length; end++) {
      writeFileSync(path, bytes.subarray(0, end));
      expect(await readEventLog(path)).toMatchObject({ lines: 7, tornBytes: end - last });
    }
  });

  test.each([
    ["no JSON", (all: string[]) => all.with(3, "{oops}"), /line 4 is damaged/],
    ["a missing line", (all: string[]) => all.toSpliced(2, 1), /line 3 .* expected seq 2, seen 3/],
    [
      "a newer version",
      (all: string[]) => all.with(1, (all[1] ?? "").replace('"v":1', '"v":2')),
      / has format 2, this version reads 1: /,
    ],
    [
      "no version",
      (all: string[]) => all.with(1, (all[1] ?? "").replace('"v":1', '"v":0')),
      /line 2 is damaged: v: /,
    ],
    [
      "broken base64",
      (all: string[]) => all.with(1, (all[1] ?? "").replace(/"ids":"[^"]*"/, '"ids":"AAA="')),
      /line 2 is damaged: sequences/,
    ],
    [
      "an unknown field",
      (all: string[]) => all.with(6, (all[6] ?? "").replace('"grade"', '"extra":1,"grade"')),
      /line 7 is damaged/,
    ],
    [
      "a second answer",
      (all: string[]) => all.with(3, (all[2] ?? "").replace('"seq":2', '"seq":3')),
      /line 4 is damaged: a second answer executed 0\/3\/1\/1/,
    ],
  ])("%s is refused with its file", async (_, damage, message) => {
    await writeAll();
    writeFileSync(path, damage(lines()).join("\n"));
    const error: unknown = await readEventLog(path).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "PersonError", exitCode: 1 });
    expect((error as Error).message).toStartWith(path);
    expect((error as Error).message).toMatch(message);
  });

  test("an answer that a retry dropped counts no more, its second one does", async () => {
    await using log = openFileEventLog(path, { from: null, now: ticking() });
    log.append(SAMPLED);
    log.mark({ type: "dropped", answers: ["sampled 0/3/-/0"] });
    await log.flush();
    expect((await readEventLog(path)).events).toEqual([]);
    log.append(SAMPLED);
    await log.flush();
    expect((await readEventLog(path)).events).toEqual([SAMPLED]);
  });
});

const SOURCE = join(import.meta.dir, "../../src/event-log/file-event-log.ts");
const EVENTS = join(import.meta.dir, "events.ts");

/** Runs code on a new `log` under a limit on the size of files, which fails a write in its middle as a full disk does. */
function underFileLimit(kibibytes: number, code: string) {
  const shell = `trap "" XFSZ; ulimit -f ${kibibytes}; exec "$0" -e "$1"`;
  const opened = `
    const { openFileEventLog } = await import(${JSON.stringify(SOURCE)});
    const { EXECUTED } = await import(${JSON.stringify(EVENTS)});
    const log = openFileEventLog(${JSON.stringify(path)}, { from: null, now: () => 1 });
  `;
  return Bun.spawnSync(["bash", "-c", shell, process.execPath, opened + code]);
}

test.each([
  [2, "within a line"],
  [0, "before the first"],
])("of many lines in one write that ends at %d KiB, %s, the whole ones stay", async (kibibytes) => {
  const child = underFileLimit(
    kibibytes,
    `
    for (let turn = 1; turn <= 20; turn++) log.append({ ...EXECUTED, key: { ...EXECUTED.key, turn } });
    await log.flush().catch((error) => console.log(error.message));
    await log[Symbol.asyncDispose]();
    `,
  );
  expect(child.stdout.toString()).toStartWith(`Cannot write ${path}: EFBIG`);
  const read = await readEventLog(path);
  expect(read.tornBytes).toBe(0);
  expect(read.events.map(({ key }) => key.turn)).toEqual(read.events.map((_, i) => i + 1));
  expect(read.lines > 0).toBe(kibibytes > 0);
});

test("a line that did not fit is taken back, told once, and what was written whole stays", async () => {
  const child = underFileLimit(
    2,
    `
    for (let turn = 1; ; turn++) {
      log.append({ ...EXECUTED, key: { ...EXECUTED.key, turn } });
      try { await log.flush(); } catch (error) { console.log(turn, error.message); break; }
    }
    try { log.append(EXECUTED); } catch (error) { console.log("again", error.message); }
    await log[Symbol.asyncDispose]();
    `,
  );
  const said = child.stdout.toString().trim().split("\n");
  expect(said).toHaveLength(2);
  const [turn = "", ...message] = (said[0] ?? "").split(" ");
  expect(message.join(" ")).toStartWith(`Cannot write ${path}: EFBIG`);
  expect(said[1]).toStartWith(`again Cannot write ${path}`);
  const read = await readEventLog(path);
  expect(read).toMatchObject({ lines: Number(turn) - 1, tornBytes: 0 });
  expect(read.lines).toBeGreaterThan(0);
});
