/** The work of `interlace serve sandbox`. */
import { describeIsolation, serveSandbox } from "@interlace/sandbox";
import type { CliContext } from "../cli-context.ts";
import type { ServeSandboxFlags } from "../commands/serve.ts";
import { readKey } from "../config/read-key.ts";
import { resolveConfig } from "../config/resolve.ts";
import { messageOf, workFailed } from "../person-error.ts";
import { openSandbox } from "../rollout/open-sandbox.ts";
import { serveUntilStopped } from "./serve-until-stopped.ts";

export async function serveSandboxWork(
  { terminal, env }: CliContext,
  flags: ServeSandboxFlags,
): Promise<0> {
  const settings = [
    ["sandbox.backend", "--backend", flags.backend],
    ["sandbox.require", "--require", flags.require],
    ["sandbox.workers", "--workers", flags.workers],
    ["sandbox.timeout_seconds", "--timeout", flags.timeout],
  ] as const;
  const { config } = await resolveConfig({
    flags: settings.flatMap(([name, flag, text]) =>
      text === undefined ? [] : [[name, flag, text]],
    ),
    env,
    file: flags.config,
    preset: undefined,
  });
  const token =
    flags.tokenEnv === undefined ? undefined : readKey("--token-env", flags.tokenEnv, env);
  await using sandbox = await openSandbox(config);
  const { host: hostname, port } = flags;
  try {
    const options = { hostname, port, ...(token === undefined ? {} : { token }) };
    const service = serveSandbox(sandbox, options);
    const lines = [
      `sandbox  ${describeIsolation(sandbox.isolation())}`,
      "routes   POST /run_code (SandboxFusion), GET /healthz, GET /metrics; Ctrl-C stops it",
    ];
    return await serveUntilStopped(service, lines, terminal);
  } catch (error) {
    throw workFailed(`Cannot serve on ${hostname}:${port}: ${messageOf(error)}`, error);
  }
}
