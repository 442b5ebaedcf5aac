/** The wire breaks in every way that it can: each is a `Trouble` that says what happened and may be asked again. */
import { expect, test } from "bun:test";
import { openHttp, readRetryAfter, type Call } from "../../src/http.ts";
import { http, rawServer } from "../support/raw-server.ts";
import { NEVER } from "../support/requests.ts";

const CALL: Call = { method: "POST", path: "/generate", body: '{"a":1}', limitMs: null };

test("a call carries its body, the extra headers and the type", async () => {
  await using server = rawServer(({ socket }) => socket.write(http("200 OK", '{"b":2}')));
  const wire = openHttp({
    url: `${server.url}/`,
    headers: { authorization: "Bearer k", "x-route": "a" },
  });
  const reply = await wire.send(CALL, NEVER);
  expect(reply).toMatchObject({
    ok: true,
    status: 200,
    contentType: "application/json",
    afterMs: null,
  });
  const [sent] = server.requests;
  expect(sent).toStartWith("POST /generate HTTP/1.1\r\n");
  expect(sent).toMatch(/authorization: Bearer k\r\n/i);
  expect(sent).toMatch(/x-route: a\r\n/i);
  expect(sent).toMatch(/content-type: application\/json\r\n/i);
  expect(sent).toEndWith('{"a":1}');
});

const FAULTS: Readonly<Record<string, string | null>> = {
  "closed before a byte": null,
  "closed inside the headers": "HTTP/1.1 200 OK\r\ncontent-ty",
  "cut in the middle of the body": 'HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\n{"choices":[',
  "cut inside a chunk": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{",
  "not HTTP": "220 mail.example ESMTP\r\n\r\n",
};

for (const [name, bytes] of Object.entries(FAULTS)) {
  test(`${name}: a trouble of the wire that may be asked again`, async () => {
    await using server = rawServer(({ socket }) => {
      if (bytes !== null) socket.write(bytes);
      socket.end();
    });
    const seen = await openHttp({ url: server.url }).send(CALL, NEVER);
    expect(seen).toMatchObject({ ok: false, cause: "server_error", again: "yes", unhealthy: true });
  });
}

test("reset: a trouble of the wire", async () => {
  await using server = rawServer(({ socket }) => socket.terminate());
  const seen = await openHttp({ url: server.url }).send(CALL, NEVER);
  expect(seen).toMatchObject({ ok: false, again: "yes", unhealthy: true });
});

test("nobody listens: the trouble names the address", async () => {
  const server = rawServer(() => {});
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const seen = await openHttp({ url }).send(CALL, NEVER);
  expect(seen).toMatchObject({ ok: false, again: "yes", unhealthy: true });
  expect(seen).toHaveProperty("detail", expect.stringContaining(`POST ${url}/generate broke: `));
});

test("a limit that runs out is a trouble, an abort is a rejection, and both close the socket", async () => {
  await using server = rawServer(() => {});
  const wire = openHttp({ url: server.url });
  const late = await wire.send({ ...CALL, limitMs: 5 }, NEVER);
  expect(late).toMatchObject({
    ok: false,
    again: "yes",
    detail: `POST ${server.url}/generate gave no answer within 0.005 s`,
  });
  const controller = new AbortController();
  const aborted = wire.send(CALL, controller.signal);
  while (server.requests.length < 2) await Bun.sleep(1);
  controller.abort(new Error("enough"));
  expect(aborted).rejects.toThrow("enough");
  while (server.closed() < 2) await Bun.sleep(1);
});

test("a status is no trouble here: its reader judges it", async () => {
  await using server = rawServer(({ socket }) =>
    socket.write(http("429 Too Many", '{"error":"busy"}', { "retry-after": "3" })),
  );
  const reply = await openHttp({ url: server.url }).send(CALL, NEVER);
  expect(reply).toMatchObject({ ok: true, status: 429, afterMs: 3_000 });
});

test("a redirect is not followed: prompts go where the configuration says", async () => {
  await using other = rawServer(({ socket }) => socket.write(http("200 OK", "{}")));
  await using server = rawServer(({ socket }) =>
    socket.write(http("307 Moved", "", { location: `${other.url}/generate` })),
  );
  expect(await openHttp({ url: server.url }).send(CALL, NEVER)).toMatchObject({ status: 307 });
  expect(other.requests).toEqual([]);
});

test("Retry-After is seconds or a date against the answer's own clock", () => {
  const after = (init: Record<string, string>) => readRetryAfter(new Headers(init));
  expect(after({})).toBeNull();
  expect(after({ "retry-after": "1.5" })).toBe(1_500);
  expect(after({ "retry-after": "-4" })).toBe(0);
  expect(after({ "retry-after": "soon" })).toBeNull();
  const date = "Wed, 21 Oct 2026 07:28:00 GMT";
  expect(after({ "retry-after": "Wed, 21 Oct 2026 07:28:05 GMT", date })).toBe(5_000);
  expect(after({ "retry-after": "Wed, 21 Oct 2026 07:27:00 GMT", date })).toBe(0);
});

test("a server with an own certificate is refused, unless its authority is named or checks are off", async () => {
  const { cert, key } = await selfSigned();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert, key },
    fetch: () => new Response("{}"),
  });
  const url = `https://localhost:${server.port}`;
  const send = (tls?: object) => openHttp({ url, ...(tls ? { tls } : {}) }).send(CALL, NEVER);
  try {
    expect((await send()).ok).toBe(false);
    expect((await send({ ca: cert })).ok).toBe(true);
    expect((await send({ verify: false })).ok).toBe(true);
  } finally {
    await server.stop(true);
  }
});

async function selfSigned(): Promise<{ cert: string; key: string }> {
  const dir = await import("node:fs").then((fs) => fs.mkdtempSync("/tmp/interlace-tls-"));
  const args = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
  ];
  const subject = [
    "-days",
    "2",
    "-subj",
    "/CN=localhost",
    "-addext",
    "subjectAltName=DNS:localhost",
  ];
  const made = Bun.spawnSync([
    "openssl",
    ...args,
    ...subject,
    "-keyout",
    `${dir}/k`,
    "-out",
    `${dir}/c`,
  ]);
  if (made.exitCode !== 0) throw new Error(`openssl failed: ${made.stderr.toString()}`);
  return { cert: await Bun.file(`${dir}/c`).text(), key: await Bun.file(`${dir}/k`).text() };
}
