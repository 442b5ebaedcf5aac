/** The remote backend against services that misbehave: each a script of answers, in order. */

import { expect, test } from "bun:test";
import { createSandbox, type RemoteOptions } from "../../src/index.ts";
import { NEVER } from "../conformance/harness.ts";
import "../conformance/patience.ts";

type Reply = (request: Request) => Response | Promise<Response>;

const FINE: Reply = () => Response.json(answer({}));
const status =
  (code: number, headers = {}): Reply =>
  () =>
    new Response("busy", { status: code, headers });

function answer(part: object, whole: object = {}): object {
  const result = {
    status: "Finished",
    execution_time: 0.5,
    return_code: 0,
    stdout: "",
    stderr: "",
  };
  return { status: "Success", message: "", run_result: { ...result, ...part }, ...whole };
}

/** Serves the replies one after the other, the last one for ever. */
function scripted(...replies: readonly Reply[]) {
  const seen: { path: string; body: unknown; token: string | null }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname: path } = new URL(request.url);
      if (path === "/healthz") return new Response("no such page", { status: 404 });
      const token = request.headers.get("authorization");
      seen.push({ path, body: await request.clone().json(), token });
      return (replies[Math.min(seen.length, replies.length) - 1] ?? FINE)(request);
    },
  });
  return { url: server.url.href, seen, [Symbol.asyncDispose]: () => server.stop(true) };
}

async function run(urls: readonly string[], options: Partial<RemoteOptions> = {}, code = "x") {
  await using sandbox = await createSandbox({
    backend: "remote",
    urls,
    pauseSeconds: 0.001,
    ...options,
  });
  return sandbox.run({ id: "a", code, limits: { wallSeconds: 3 } }, NEVER);
}

test("a request is what SandboxFusion takes, and its own answer is enough", async () => {
  await using server = scripted(() => Response.json(answer({ stdout: "42\n", stderr: "w" })));
  expect(await run([server.url], { token: "t" }, "print(42)")).toMatchObject({
    status: "ok",
    exitCode: 0,
    stdout: { head: "42\n" },
    stderr: { head: "w" },
    usage: { wallSeconds: 0.5, cpuSeconds: null },
  });
  expect(server.seen).toMatchObject([
    {
      path: "/run_code",
      token: "Bearer t",
      body: { code: "print(42)", language: "python", run_timeout: 3, memory_limit_MB: 2048 },
    },
  ]);
});

test.each([
  ["a non-zero return code", { return_code: 3 }, { status: "error", exitCode: 3, limit: null }],
  ["a negative one", { return_code: -11 }, { status: "killed", signal: "SIGSEGV", exitCode: null }],
  [
    "a time-out",
    { status: "TimeLimitExceeded", return_code: null, stdout: "a" },
    { status: "timeout", limit: 3, stdout: { head: "a" } },
  ],
])("Failed with %s", async (_claim, result, expected) => {
  await using server = scripted(() => Response.json(answer(result, { status: "Failed" })));
  expect(await run([server.url])).toMatchObject({ ok: true, ...expected });
});

test.each([
  ["SandboxError", { status: "SandboxError", message: "no workers", run_result: null }],
  ["a run that is Error", answer({ status: "Error", stderr: "no workers" }, { status: "Failed" })],
])("%s is a failure of the sandbox, tried once more", async (_claim, body) => {
  await using server = scripted(() => Response.json(body));
  expect(await run([server.url])).toMatchObject({
    ok: false,
    cause: "sandbox_error",
    detail: "no workers",
  });
  expect(server.seen).toHaveLength(2);
});

test.each([429, 502, 503, 504])("%d is tried again", async (code) => {
  await using server = scripted(status(code), status(code), FINE);
  expect(await run([server.url])).toMatchObject({ ok: true, status: "ok" });
  expect(server.seen).toHaveLength(3);
});

test("a service that stays busy is a failure after all tries", async () => {
  await using server = scripted(status(429));
  expect(await run([server.url], { attempts: 3 })).toMatchObject({
    ok: false,
    boundary: "sandbox",
    cause: "overloaded",
  });
  expect(server.seen).toHaveLength(3);
});

test.each([
  ["400", status(400), "refused"],
  ["500", status(500), "refused"],
  ["HTML with 200", () => new Response("<html>"), "bad_answer"],
  ["JSON of another shape", () => Response.json({ hello: 1 }), "bad_answer"],
] as const)("%s is a failure at once", async (_claim, reply, cause) => {
  await using server = scripted(reply);
  expect(await run([server.url])).toMatchObject({ ok: false, cause });
  expect(server.seen).toHaveLength(1);
});

test("a lost connection is tried again on another address", async () => {
  await using fine = scripted(FINE);
  const dead = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: FINE });
  const gone = dead.url.href;
  await dead.stop(true);
  expect(await run([gone, fine.url])).toMatchObject({ ok: true, status: "ok" });
});

test("nobody there is a failure that names the address", async () => {
  const dead = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: FINE });
  const gone = dead.url.href;
  await dead.stop(true);
  expect(await run([gone], { attempts: 2 })).toMatchObject({
    ok: false,
    cause: "unreachable",
    detail: expect.stringContaining(gone.replace(/\/$/, "")),
  });
});

test.each([
  ["in the middle of the body", 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"status": "Succ'],
  ["in the middle of the head", "HTTP/1.1 200 O"],
  ["before the first byte", ""],
])("a connection that ends %s is tried again", async (_where, bytes) => {
  await using fine = scripted(FINE);
  let cuts = 0;
  const cutting = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        cuts += 1;
        socket.end(bytes);
      },
    },
  });
  const result = await run([`http://127.0.0.1:${cutting.port}`, fine.url]);
  cutting.stop(true);
  expect(result).toMatchObject({ ok: true, status: "ok" });
  expect(cuts).toBeGreaterThanOrEqual(2); // asked for its health, then for the run
});

test("a service that never answers meets our own deadline", async () => {
  await using silent = scripted(() => new Promise<Response>(() => {}));
  const sandbox = await createSandbox({
    backend: "remote",
    urls: [silent.url],
    attempts: 1,
    marginSeconds: 0.1,
  });
  const request = { id: "a", code: "x", limits: { wallSeconds: 0.1 } };
  expect(await sandbox.run(request, NEVER)).toMatchObject({ ok: false, cause: "unreachable" });
});

test("an abort while it waits to try again rejects with its reason", async () => {
  await using server = scripted(status(503, { "retry-after": "9" }));
  await using sandbox = await createSandbox({ backend: "remote", urls: [server.url] });
  const controller = new AbortController();
  const running = sandbox.run({ id: "a", code: "x" }, controller.signal);
  while (server.seen.length < 1) await Bun.sleep(1);
  await Bun.sleep(5);
  controller.abort(new Error("enough"));
  expect(running).rejects.toThrow("enough");
});

test("of a foreign service nothing is claimed, and so nothing can be required", async () => {
  await using server = scripted(FINE);
  await using sandbox = await createSandbox({ backend: "remote", urls: [server.url] });
  expect(sandbox.isolation().lines.filter((line) => line.holds)).toEqual([]);
  expect(
    createSandbox({ backend: "remote", urls: [server.url], require: "standard" }),
  ).rejects.toThrow("the service does not tell");
});

test.each([[[]], [["no address"]]])("addresses %j are refused", (urls) => {
  expect(createSandbox({ backend: "remote", urls })).rejects.toThrow(RangeError);
});
