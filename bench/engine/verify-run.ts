/**
 * `interlace verify` over a run that was measured, in a process of its own. Out: what held; throws with what did not, or
 * was not checked.
 */
import { join } from "node:path";

/** As `--json` prints it. */
type VerifyReport = {
  readonly ok: boolean;
  readonly unfinished: readonly number[];
  readonly checked: Readonly<Record<string, number>>;
  readonly skipped: Readonly<Record<string, string>>;
  readonly findings: readonly object[];
};

type Refusal = { readonly error: { readonly message: string } };

export type Verified = {
  readonly rules: number;
  readonly seconds: number;
  readonly peakBytes: number;
};

const MAIN = join(import.meta.dir, "../../apps/cli/src/main.ts");

/** `out`: a folder that holds one run. */
export async function verifyRun(out: string): Promise<Verified> {
  const [record] = [...new Bun.Glob("*/run.json").scanSync(out)];
  if (record === undefined) throw new Error(`Expected a run in ${out}, there is none`);
  const began = performance.now();
  const child = Bun.spawn([process.execPath, MAIN, "verify", join(out, record, ".."), "--json"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, code] = await Promise.all([child.stdout.text(), child.exited]);
  const seconds = (performance.now() - began) / 1000;
  if (text === "") throw new Error(`Expected verify to say what holds, exit code ${code}`);
  const answer = JSON.parse(text) as VerifyReport | Refusal;
  if ("error" in answer)
    throw new Error(`The measured run cannot be read: ${answer.error.message}`);
  const { ok, unfinished, checked, skipped, findings } = answer;
  const open = unfinished.map((step) => `step ${step} is not finished`);
  const unchecked = Object.entries(skipped).map(([rule, why]) => `${rule} not checked: ${why}`);
  if (code !== 0 || !ok || open.length + unchecked.length > 0) {
    const lines = [...open, ...unchecked, ...findings.map((finding) => JSON.stringify(finding))];
    throw new Error([`The measured run in ${out} does not pass verify:`, ...lines].join("\n  "));
  }
  const peakBytes = child.resourceUsage()?.maxRSS ?? Number.NaN;
  return { rules: Object.keys(checked).length, seconds, peakBytes };
}

export function describeVerified({ rules }: Verified): string {
  return `${rules} rules hold`;
}
