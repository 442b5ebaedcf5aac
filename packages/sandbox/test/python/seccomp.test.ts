/** The system call filter, run by an interpreter of its own: what the kernel would answer to every number. */

import { expect, test } from "bun:test";
import { testPython } from "../conformance/differential.ts";
import { pythonFile } from "../../src/python/environment.ts";
import "../conformance/patience.ts";

type Instruction = {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
};
type Call = { readonly arch: number; readonly number: number; readonly argument?: number };

const X86_64 = 0xc000003e;
const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
/** An error of number 0: the call is not made and seems to succeed. */
const PRETEND = 0x00050000;

const { path: python } = await testPython();

async function ask(expression: string): Promise<string> {
  const folder = pythonFile("");
  const code = `import sys; sys.path.insert(0, ${JSON.stringify(folder)})\nfrom interlace_child import seccomp, syscalls\nsyscalls.MACHINE = "x86_64"\nprint(${expression})`;
  const child = Bun.spawn([python, "-c", code], { stdout: "pipe", stderr: "inherit" });
  return (await child.stdout.text()).trim();
}

async function filter(expression: string): Promise<readonly Instruction[]> {
  const hex = await ask(`(${expression}).hex()`);
  const bytes = Uint8Array.fromHex(hex);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 8 }, (_, index) => ({
    code: view.getUint16(index * 8, true),
    jt: view.getUint8(index * 8 + 2),
    jf: view.getUint8(index * 8 + 3),
    k: view.getUint32(index * 8 + 4, true),
  }));
}

/** Classic BPF as the kernel's manual has it, as far as filters use it. */
function answer(program: readonly Instruction[], call: Call): number {
  const data = new Map([
    [0, call.number],
    [4, call.arch],
    [16, call.argument ?? 0],
  ]);
  let accumulator = 0;
  for (let at = 0; ; at += 1) {
    const { code, jt, jf, k } = program[at]!;
    if (code === 0x06) return k;
    if (code === 0x20) accumulator = data.get(k)!;
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x35) at += accumulator >= k ? jt : jf;
    else if (code === 0x45) at += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`Expected a known instruction, seen ${code}`);
  }
}

const WHOLE = "seccomp.build(seccomp.REFUSED, seccomp.IGNORED)";

async function numbers(table: string): Promise<ReadonlySet<number>> {
  return new Set(
    JSON.parse(
      await ask(`[row[0] for row in (${table}).values() if row[0] is not None]`),
    ) as number[],
  );
}

const SETPGID = 109;
const SETSID = 112;

function answerOf(number: number, refused: ReadonlySet<number>): number {
  if (refused.has(number)) return EPERM;
  return number === SETPGID || number === SETSID ? PRETEND : ALLOW;
}

test("every number is answered as the table says", async () => {
  const program = await filter(WHOLE);
  const refused = await numbers("seccomp.REFUSED");
  expect(refused.size).toBeGreaterThan(70);
  for (let number = 0; number < 1000; number += 1) {
    const expected = number === 435 ? ENOSYS : answerOf(number, refused);
    expect([number, answer(program, { arch: X86_64, number })]).toEqual([number, expected]);
  }
});

test.each(["True", "False"])(
  "the template's filter and the worker's answer together as one would (namespaces: %s)",
  async (namespaces) => {
    const template = await filter(`seccomp.build(seccomp.of_template(${namespaces}), {})`);
    const worker = await filter(`seccomp.build_more(*seccomp.of_worker(${namespaces}))`);
    const extra = namespaces === "True" ? "" : " | seccomp.REFUSED_WITHOUT_NAMESPACES";
    const refused = await numbers(`seccomp.REFUSED${extra}`);
    for (let number = 0; number < 1000; number += 1) {
      if (number === 435) continue; // clone3 does not exist
      const call = { arch: X86_64, number };
      const both = [answer(template, call), answer(worker, call)];
      const seen = both.find((each) => each !== ALLOW) ?? ALLOW;
      expect([number, seen]).toEqual([number, answerOf(number, refused)]);
    }
  },
);

test("another architecture is killed, the x32 table does not exist", async () => {
  const program = await filter(WHOLE);
  expect(answer(program, { arch: 0x40000003, number: 20 })).toBe(KILL);
  expect(answer(program, { arch: X86_64, number: 0x40000000 + 41 })).toBe(ENOSYS);
});

test("clone makes processes and threads, but no namespace", async () => {
  const program = await filter(WHOLE);
  const clone = (argument: number) => answer(program, { arch: X86_64, number: 56, argument });
  expect(clone(0x01200011)).toBe(ALLOW); // fork
  expect(clone(0x003d0f00)).toBe(ALLOW); // a thread
  for (const flag of [
    0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000, 0x80,
  ]) {
    expect(clone(flag | 17)).toBe(EPERM);
  }
});

test("no jump leaves the program", async () => {
  const program = await filter(
    "seccomp.build(seccomp.REFUSED | seccomp.REFUSED_WITHOUT_NAMESPACES, seccomp.IGNORED)",
  );
  for (const [at, { code, jt, jf }] of program.entries()) {
    if (code === 0x06) continue;
    expect(at + 1 + Math.max(jt, jf)).toBeLessThan(program.length);
  }
});
