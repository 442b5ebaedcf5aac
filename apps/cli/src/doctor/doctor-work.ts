/** The work of `interlace doctor`, from flags to an exit code. Writes nothing. */
import type { CliContext } from "../cli-context.ts";
import { DOCTOR_FLAG_SETTINGS, type DoctorFlags } from "../commands/doctor.ts";
import { resolveConfig } from "../config/resolve.ts";
import { flagSettings } from "../rollout/flag-settings.ts";
import { listenForInterrupts } from "../terminal/interrupts.ts";
import { checkMachine } from "./check-machine.ts";
import { checkPolicy } from "./check-policy.ts";
import { checkSandbox } from "./check-sandbox.ts";
import { checkServer } from "./check-server.ts";
import { checkTokenizer } from "./check-tokenizer.ts";
import type { Finding } from "./finding.ts";
import { printFindings } from "./print-findings.ts";

export async function doctorWork(
  { terminal, env }: Pick<CliContext, "terminal" | "env">,
  flags: DoctorFlags,
): Promise<0 | 1> {
  const resolved = await resolveConfig({
    flags: flagSettings(flags, DOCTOR_FLAG_SETTINGS),
    env,
    file: flags.config,
    preset: flags.preset,
  });
  const { config } = resolved;
  const findings: Finding[] = [];
  using interrupts = listenForInterrupts(() => terminal.note("Stopping"));
  const { signal } = interrupts;
  const tell = (line: string): void => terminal.note(`interlace: ${line}`);
  await checkMachine(config.run.out, config.sandbox.python, findings);
  await checkSandbox(config, findings);
  // A server may be looked at without its tokenizer, but then less is told.
  const hasTokenizer = config.sampler.kind === "embedded" || config.sampler.tokenizer !== null;
  const patient = hasTokenizer ? await checkTokenizer(config, { signal, tell }, findings) : null;
  if (config.sampler.kind !== "embedded") await checkServer(config, patient, signal, findings);
  const isSound = findings.every(({ state }) => state !== "broken");
  if (flags.policy === true && isSound) await checkPolicy(resolved, { signal, tell }, findings);
  else if (flags.policy === true) tell("the policy is not looked at while something is broken");
  printFindings(findings, flags.json === true, terminal);
  return findings.some(({ state }) => state === "broken") ? 1 : 0;
}
