/** The work of `interlace serve sandbox`. */
import { describeIsolation, serveSandbox } from "@interlace/sandbox";
import type { CliContext } from "../cli-context.ts";
import type { ServeSandboxFlags } from "../commands/serve.ts";
import { resolveConfig } from "../config/resolve.ts";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";
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
  const token = flags.tokenEnv === undefined ? undefined : readToken(env, flags.tokenEnv);
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

function readToken(env: CliContext["env"], name: string): string {
  const token = env[name];
  if (token !== undefined && token !== "") return token;
  throw wrongUse(`--token-env names ${name}, which is not set: put the token there`);
}
