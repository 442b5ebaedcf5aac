/** The work of `interlace rollout`, from flags to an exit code. */
import type { CliContext } from "../cli-context.ts";
import type { RolloutFlags } from "../commands/rollout.ts";
import { settingsOfFlags } from "./flag-settings.ts";
import type { Surroundings } from "./prepare-run.ts";
import { startRun } from "./start-run.ts";

/** `ports`: what opens sampler, sandbox and grader, where not as configured. */
export async function rolloutWork(
  context: Pick<CliContext, "terminal" | "env">,
  flags: RolloutFlags,
  ports: Pick<Surroundings, "openPorts"> = {},
): Promise<0 | 1> {
  await using stack = new AsyncDisposableStack();
  // Behind the first request: Arrow comes with it, and a refusal needs none of it.
  const loadRest = () => Promise.all([import("./handoff.ts"), import("./roll-out-steps.ts")]);
  const surroundings = { ...ports, loadRest: () => void loadRest() };
  const options = { command: "rollout", settings: settingsOfFlags(flags), surroundings } as const;
  const started = await startRun(context, flags, options, stack);
  if (started === null) return 0;
  const [{ openHandoff }, { rollOutSteps }] = await loadRest();
  const { run, folder, resumed } = started;
  const handoff = stack.use(await openHandoff(run.config, folder, resumed?.done.length ?? 0));
  if (handoff.described !== null) context.terminal.note(`learner  ${handoff.described}`);
  return await rollOutSteps({ ...started, handoff, terminal: context.terminal }, flags);
}
