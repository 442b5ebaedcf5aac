/** Both sides of the pool's wire, in the two languages: what one packs the other unpacks. */

import { expect, test } from "bun:test";
import {
  decodeReport,
  encodeHello,
  encodeKill,
  encodeRequest,
  encodeStart,
  REPORT_SIZE,
} from "../../src/backends/zygote/wire.ts";
import { pythonFile } from "../../src/python/environment.ts";
import { testPython } from "../conformance/differential.ts";
import "../conformance/patience.ts";

const { path: python } = await testPython();

async function ask(expression: string): Promise<string> {
  const folder = pythonFile("");
  const code = `import sys; sys.path.insert(0, ${JSON.stringify(folder)})\nfrom interlace_child import template, worker\nprint(${expression})`;
  const child = Bun.spawn([python, "-c", code], { stdout: "pipe", stderr: "inherit" });
  return (await child.stdout.text()).trim();
}

function unpacked(struct: string, bytes: Uint8Array): Promise<string> {
  return ask(`${struct}.unpack(bytes.fromhex("${bytes.toHex()}"))`);
}

test("hello, start and kill", async () => {
  expect(await unpacked("template.HELLO", encodeHello(2, 77))).toBe("(2, 77)");
  expect(await unpacked("template.COMMAND", encodeStart(7, 1.5, 2 ** 33))).toBe(
    "(1, 7, 1500, 8589934592)",
  );
  expect(await unpacked("template.COMMAND", encodeKill(4_000_000_000))).toBe(
    "(2, 4000000000, 0, 0)",
  );
});

test("a request: its head, then code and stdin in UTF-8", async () => {
  const request = { code: "é", stdin: "€x", cpuSeconds: 9, addressSpace: 2 ** 40, autoPrint: true };
  const bytes = encodeRequest(request);
  expect(await unpacked("worker.REQUEST", bytes.subarray(0, 24))).toBe(
    "(2, 4, 9, 1, 1099511627776)",
  );
  expect(new TextDecoder().decode(bytes.subarray(24))).toBe("é€x");
});

test("a report", async () => {
  const hex = await ask("template.REPORT.pack(5, -1, 11, 2, 0.25, 3 << 32).hex()");
  const bytes = Uint8Array.fromHex(hex);
  expect(bytes.length).toBe(REPORT_SIZE);
  expect(decodeReport(bytes)).toEqual({
    worker: 5,
    exitCode: null,
    signal: 11,
    reason: "out_of_memory",
    cpuSeconds: 0.25,
    peakMemoryBytes: 3 * 2 ** 32,
  });
});
