import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  createSandbox,
  createSandboxServer,
  serveSandbox,
  type OwnedSandbox,
  type ServedSandbox,
} from "../../src/index.ts";

import type { RunCodeResponse } from "../../src/fusion/wire.ts";
import "../conformance/patience.ts";

let sandbox: OwnedSandbox;
let served: ServedSandbox;
beforeAll(async () => {
  sandbox = await createSandbox({ concurrency: 1 });
  served = serveSandbox(sandbox, { port: 0, maxQueue: 1 });
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

function post(body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${served.url}/run_code`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** What verl posts, field by field. */
function asVerl(code: string, runTimeout = 10) {
  const fields = { stdin: "None", language: "python", files: {}, fetch_files: [] };
  return { compile_timeout: runTimeout, run_timeout: runTimeout, code, ...fields };
}

test("a success reads as verl expects it", async () => {
  const response = await post(asVerl("print(6 * 7)"));
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    status: "Success",
    message: "",
    run_result: {
      status: "Finished",
      execution_time: expect.any(Number),
      return_code: 0,
      stdout: "42\n",
      stderr: "",
    },
  });
});

test("an error is Failed and Finished, with return code and traceback", async () => {
  const answer = (await (await post(asVerl("print('a')\n1 / 0"))).json()) as RunCodeResponse;
  expect(answer).toMatchObject({
    status: "Failed",
    run_result: { status: "Finished", return_code: 1, stdout: "a\n" },
  });
  expect(answer.run_result?.stderr).toEndWith("ZeroDivisionError: division by zero\n");
});

test("a time-out is Failed and TimeLimitExceeded, with what was printed", async () => {
  const answer = await (await post(asVerl("print('a')\nwhile True: pass", 1))).json();
  expect(answer).toMatchObject({
    status: "Failed",
    run_result: { status: "TimeLimitExceeded", return_code: null, stdout: "a\n" },
  });
});

test("a crash is a negative return code", async () => {
  const answer = await (await post(asVerl("import ctypes; ctypes.string_at(0)"))).json();
  expect(answer).toMatchObject({ status: "Failed", run_result: { return_code: -11 } });
});

test("stdin and a memory limit are kept", async () => {
  const code = "import sys; print(sys.stdin.read()); x = bytearray(1 << 30)";
  const request = { ...asVerl(code), stdin: "given", memory_limit_MB: 256 };
  const answer = await (await post(request)).json();
  expect(answer).toMatchObject({ status: "Failed", run_result: { stdout: "given\n" } });
});

test("the least that a client may send is code and language", async () => {
  const answer = await (await post({ code: "print(1)", language: "python" })).json();
  expect(answer).toMatchObject({ status: "Success", run_result: { stdout: "1\n" } });
});

test.each([
  [{ language: "python" }],
  [{ code: 1, language: "python" }],
  [{ code: "x", language: "cpp" }],
  [{ code: "x", language: "python", files: { "a.txt": "YQ==" } }],
  [{ code: "x", language: "python", fetch_files: ["a.txt"] }],
  [{ code: "x", language: "python", run_timeout: -1 }],
  [[]],
])("%j is refused as unprocessable", async (body) => {
  const response = await post(body);
  expect(response.status).toBe(422);
  expect(await response.json()).toEqual({ message: expect.any(String) });
});

test.each([
  [{ language: "python" }, "code: expected string, received undefined"],
  [{ code: "x", language: "python", run_timeout: -1 }, "run_timeout: Too small: expected number"],
  [
    { code: "x", language: "python", files: { "a.txt": 1 } },
    "files.a.txt: expected string, received number",
  ],
  [
    { code: "x", language: "python", interlace: { cpu_seconds: "5" } },
    "interlace.cpu_seconds: expected number, received string",
  ],
  [[], "Invalid input: expected object, received array"],
])("a refusal of %j names the field", async (body, message) => {
  const answer = (await (await post(body)).json()) as { readonly message: string };
  expect(answer.message).toStartWith(message);
});

test("a full queue answers 429, and says when to come again", async () => {
  const holding = [asVerl("import time; time.sleep(1)"), asVerl("print('queued')")];
  const held = holding.map((body) => post(body));
  while (sandbox.load().waiting < 1) await Bun.sleep(1);
  const refused = await post(asVerl("print('too many')"));
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("1");
  for (const response of await Promise.all(held)) expect(response.status).toBe(200);
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  expect(metrics).toContain("\ninterlace_sandbox_refused_total 1\n");
});

test("a client that goes away ends its run", async () => {
  const before = sandbox.statistics().cancelled;
  const controller = new AbortController();
  const posted = post(asVerl("while True: pass", 1000), controller.signal);
  while (sandbox.load().running < 1) await Bun.sleep(1);
  controller.abort();
  await posted.catch(() => {});
  while (sandbox.statistics().cancelled === before) await Bun.sleep(1);
  expect(sandbox.load()).toEqual({ running: 0, waiting: 0 });
});

test("health tells what is contained", async () => {
  const health = (await (await fetch(`${served.url}/healthz`)).json()) as { isolation: unknown };
  expect(health).toMatchObject({ status: "ok", running: 0, waiting: 0 });
  expect(health.isolation).toEqual(JSON.parse(JSON.stringify(sandbox.isolation())));
});

test("metrics are lines that Prometheus reads", async () => {
  const response = await fetch(`${served.url}/metrics`);
  expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  for (const line of (await response.text()).trimEnd().split("\n")) {
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{outcome="\w+"\})? [\d.e+-]+)$/);
  }
});

test("with a token nobody else runs code or reads metrics, but health stays open", async () => {
  const app = createSandboxServer(sandbox, { token: "secret" });
  const body = JSON.stringify(asVerl("print(1)"));
  const ask = (path: string, authorization: string, method = "GET") =>
    app.request(path, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(method === "POST" ? { body } : {}),
    });
  for (const header of ["", "Bearer wrong!", "Bearer secrets", "secret", "Basic secret"]) {
    expect((await ask("/run_code", header, "POST")).status).toBe(401);
    expect((await ask("/metrics", header)).status).toBe(401);
  }
  expect((await ask("/run_code", "Bearer secret", "POST")).status).toBe(200);
  expect((await ask("/healthz", "")).status).toBe(200);
});

test.each(["0.0.0.0", "192.0.2.7", "sandbox.example"])("%s needs a token", (hostname) => {
  expect(() => serveSandbox(sandbox, { hostname, port: 0 })).toThrow(
    `Expected a token to serve a sandbox on ${hostname}`,
  );
});
