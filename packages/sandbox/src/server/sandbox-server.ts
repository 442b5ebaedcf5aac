/**
 * Shares one sandbox over HTTP: `POST /run_code` as SandboxFusion has it (Python only, no files),
 * `GET /healthz`, `GET /metrics`. Knows nothing of who asks but a token, and keeps nothing.
 */

import { timingSafeEqual } from "node:crypto";
import { Hono, type Context } from "hono";
import type { ZodError } from "zod";
import type { ExecLimits } from "@interlace/core";
import type { OwnedSandbox } from "../create-sandbox.ts";
import { toFusion } from "../fusion/to-fusion.ts";
import { runCodeRequestSchema } from "../fusion/wire.ts";
import { renderMetrics } from "./metrics.ts";

export type SandboxServerOptions = {
  /** Asked for as `Authorization: Bearer …` everywhere but on `/healthz`. Absent: nobody is asked. */
  readonly token?: string;
  /** Requests that may wait for a slot; one more is answered 429. Default 256. */
  readonly maxQueue?: number;
};

/** A hono app: `fetch` serves it anywhere. `serveSandbox` listens for it. */
export function createSandboxServer(
  sandbox: OwnedSandbox,
  options: SandboxServerOptions = {},
): Hono {
  const { token, maxQueue = 256 } = options;
  const app = new Hono();
  let refused = 0;
  let calls = 0;

  app.use(async (c, next) => {
    if (c.req.path !== "/healthz" && !allowed(token, c.req.header("authorization"))) {
      return c.json({ message: "Expected the token as Authorization: Bearer …" }, 401);
    }
    await next();
    return undefined;
  });

  app.get("/healthz", (c) =>
    c.json({ status: "ok", isolation: sandbox.isolation(), ...sandbox.load() }),
  );
  app.get("/metrics", (c) =>
    c.text(renderMetrics(sandbox, refused), 200, { "content-type": "text/plain; version=0.0.4" }),
  );

  app.post("/run_code", async (c) => {
    const body: unknown = await c.req.json().catch(() => undefined);
    const request = runCodeRequestSchema.safeParse(body);
    if (!request.success) return wrong(c, describeIssue(request.error));
    const { code, language, stdin, files, fetch_files, run_timeout, ...rest } = request.data;
    if (language !== "python") return wrong(c, `Expected language "python", seen "${language}"`);
    if (Object.keys(files).length + fetch_files.length > 0) {
      return wrong(c, "Expected no files and no fetch_files: runs leave nothing behind");
    }
    if (sandbox.load().waiting >= maxQueue) {
      refused += 1;
      return c.json({ message: `The queue of ${maxQueue} is full` }, 429, { "retry-after": "1" });
    }
    calls += 1;
    const limits = limitsOf(run_timeout, rest.memory_limit_MB, rest.interlace ?? {});
    const run = { id: `served-${calls}`, code, stdin: stdin ?? "", limits };
    const answer = await sandbox.run(run, c.req.raw.signal);
    return c.json(toFusion(answer, rest.interlace !== undefined));
  });

  app.onError((error, c) => {
    // A client that went away is no error; nobody reads what is said to it.
    if (c.req.raw.signal.aborted) return c.json({ message: "The client went away" }, 408);
    return c.json({ status: "SandboxError", message: error.message }, 500);
  });
  return app;
}

function limitsOf(
  runTimeout: number,
  memoryMiB: number,
  added: {
    readonly cpu_seconds?: number | undefined;
    readonly keep_bytes?: number | undefined;
    readonly max_output_bytes?: number | undefined;
  },
): Partial<ExecLimits> {
  const { cpu_seconds, keep_bytes, max_output_bytes } = added;
  return {
    wallSeconds: runTimeout,
    cpuSeconds: cpu_seconds ?? runTimeout + 5,
    ...(memoryMiB > 0 ? { memoryBytes: memoryMiB * 1024 ** 2 } : {}),
    ...(keep_bytes === undefined ? {} : { keepBytes: keep_bytes }),
    ...(max_output_bytes === undefined ? {} : { maxOutputBytes: max_output_bytes }),
  };
}

/** `code: expected string, …`: which field, where it is one. */
function describeIssue({ issues }: ZodError): string {
  const [issue] = issues;
  if (issue === undefined) return "no JSON object";
  const message = issue.message.replace(/^Invalid input: /, "");
  return issue.path.length === 0
    ? issue.message
    : `${issue.path.map(String).join(".")}: ${message}`;
}

function wrong(c: Context, message: string): Response {
  return c.json({ message }, 422);
}

function allowed(token: string | undefined, header: string | undefined): boolean {
  if (token === undefined) return true;
  const expected = Buffer.from(`Bearer ${token}`);
  const given = Buffer.from(header ?? "");
  return expected.length === given.length && timingSafeEqual(expected, given);
}
