/** What goes over the socket, seen by a bare client that knows nothing but sockets and JSON. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { readAcknowledged, serveDatums, writeDatums } from "../../src/index.ts";
import { askPython, HAS_PYTHON } from "../support/python.ts";
import { CONTEXT, drawnStep, literalStep } from "../support/sample-step.ts";
import { temporaryFolder } from "../support/temporary.ts";

// A busy machine takes seconds to start a Python.
setDefaultTimeout(60_000);

/** Steps 0 … count − 1 on the disk, and a server for them. */
async function serveSteps(path: string, count: number) {
  const options = {
    socket: join(path, "learner.sock"),
    fileOf: (step: number) => join(path, `${step}.arrow`),
    acknowledgements: join(path, "acknowledged.json"),
  };
  for (let step = 0; step < count; step++) {
    await writeDatums(options.fileOf(step), literalStep(), { ...CONTEXT, step });
  }
  return { server: await serveDatums({ ...options, offered: count }), options };
}

function bareClient(path: string) {
  const socket: Socket = connect(path);
  let chunks: Buffer[] = [];
  let wake = Promise.withResolvers<void>();
  let isClosed = false;
  const ring = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    ring();
  });
  socket.on("close", () => {
    isClosed = true;
    ring();
  });
  socket.on("error", () => {});
  async function take(hasEnough: () => boolean, count: () => number): Promise<Buffer> {
    while (!hasEnough()) {
      if (isClosed) throw new Error("The server hung up");
      await wake.promise;
    }
    const all = Buffer.concat(chunks);
    chunks = [all.subarray(count())];
    return all.subarray(0, count());
  }
  const buffered = () => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  return {
    say: (message: unknown) => socket.write(`${JSON.stringify(message)}\n`),
    async line(): Promise<unknown> {
      let end = 0;
      const text = await take(
        () => chunks.some((chunk) => chunk.includes(0x0a)),
        () => (end ||= Buffer.concat(chunks).indexOf(0x0a) + 1),
      );
      return JSON.parse(text.toString());
    },
    bytes: (count: number) =>
      take(
        () => buffered() >= count,
        () => count,
      ),
    socket,
    destroy: () => socket.destroy(),
  };
}

const HELLO = { type: "hello", version: 1, first_step: null };

describe("a step on the socket", () => {
  test("comes when it is asked for, as a line and its bytes, and counts when it is acknowledged", async () => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 1);
    await using _ = server;
    const client = bareClient(options.socket);
    client.say(HELLO);
    expect(await client.line()).toEqual({ type: "hello", version: 1, step: 0 });
    client.say({ type: "next" });
    const header = (await client.line()) as Readonly<Record<string, unknown>> & { bytes: number };
    expect(header).toEqual({ type: "step", step: 0, bytes: expect.any(Number) });
    await client.bytes(header.bytes);
    expect(server.acknowledged()).toBe(0);
    expect(existsSync(options.acknowledgements)).toBe(false);
    client.say({ type: "acknowledge", step: 0 });
    expect(await client.line()).toEqual({ type: "acknowledged", step: 0 });
    expect(server.acknowledged()).toBe(1);
    expect(await readAcknowledged(options.acknowledgements)).toBe(1);
    client.destroy();
  });

  test.skipIf(!HAS_PYTHON)(
    "is an Arrow stream with the rows of the file, to pyarrow alone",
    async () => {
      await using folder = await temporaryFolder();
      const { server, options } = await serveSteps(folder.path, 0);
      await using _ = server;
      await writeDatums(options.fileOf(0), drawnStep(12, 7), CONTEXT);
      server.offer(1);
      const client = bareClient(options.socket);
      client.say(HELLO);
      client.say({ type: "next" });
      await client.line();
      const { bytes } = (await client.line()) as { bytes: number };
      const same = await askPython(
        `
import json, sys, pyarrow as pa
with pa.ipc.open_stream(sys.stdin.buffer) as stream, pa.ipc.open_file(sys.argv[1]) as file:
    print(json.dumps([stream.read_all().equals(file.read_all(), check_metadata=True), file.num_record_batches > 5]))`,
        [options.fileOf(0)],
        await client.bytes(bytes),
      );
      expect(same).toEqual([true, true]);
      client.destroy();
    },
  );

  test("waits for the engine, and the end is told", async () => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 0);
    await using _ = server;
    const client = bareClient(options.socket);
    client.say(HELLO);
    client.say({ type: "next" });
    await client.line();
    await writeDatums(options.fileOf(0), literalStep(), CONTEXT);
    server.offer(1);
    const { bytes } = (await client.line()) as { bytes: number };
    await client.bytes(bytes);
    client.say({ type: "next" });
    server.finish();
    expect(await client.line()).toEqual({ type: "end" });
    client.destroy();
  });

  test("an acknowledgement is taken while the next step is waited for: an engine may wait for it", async () => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 1);
    await using _ = server;
    const client = bareClient(options.socket);
    client.say(HELLO);
    client.say({ type: "next" });
    await client.line();
    const { bytes } = (await client.line()) as { bytes: number };
    await client.bytes(bytes);
    client.say({ type: "next" });
    client.say({ type: "acknowledge", step: 0 });
    await server.whenAcknowledged(1);
    await writeDatums(options.fileOf(1), literalStep(), { ...CONTEXT, step: 1 });
    server.offer(2);
    expect(await client.line()).toMatchObject({ type: "step", step: 1 });
    client.destroy();
  });

  test("is not read from the disk faster than the learner takes it", async () => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 0);
    await using _ = server;
    // A real file with 16 MB put before its batches: more than any socket holds.
    const path = options.fileOf(0);
    await writeDatums(path, literalStep(), CONTEXT);
    const whole = await Bun.file(path).bytes();
    const padding = 16 << 20;
    await Bun.write(path, new Blob([whole.slice(0, 8), new Uint8Array(padding), whole.slice(8)]));
    server.offer(1);
    const client = bareClient(options.socket);
    client.say(HELLO);
    await client.line();
    client.say({ type: "next" });
    const { bytes } = (await client.line()) as { bytes: number };
    client.socket.pause();
    // Written while the learner does not take: it is in what the learner gets, so it was not read before.
    const file = await open(path, "r+");
    await file.write(Buffer.from("changed"), 0, 7, padding);
    await file.close();
    client.socket.resume();
    const seen = await client.bytes(bytes);
    expect(seen.includes("changed")).toBe(true);
    client.destroy();
  });
});

describe("what a learner must not say", () => {
  const cases: readonly (readonly [string, readonly unknown[], string])[] = [
    ["nothing before the hello", [{ type: "next" }], "Expected a hello first"],
    ["another version", [{ ...HELLO, version: 2 }], "speaks version 1 of the transport"],
    ["no JSON object", [3], "Expected hello, next or acknowledge"],
    ["a second hello", [HELLO, HELLO], "Expected one hello"],
    [
      "that it trained on what it never got",
      [HELLO, { type: "acknowledge", step: 0 }],
      "in order, up to step -1, got 0",
    ],
    [
      "that it is ahead of the run",
      [{ ...HELLO, first_step: 3 }],
      "which has 2 steps, got one that trained on 3",
    ],
    [
      "that it trained on the second step but not on the first",
      [HELLO, { type: "next" }, { type: "next" }, { type: "acknowledge", step: 1 }],
      "in order, up to step 0, got 1",
    ],
  ];
  test.each(cases)("%s", async (_name, messages, expected) => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 2);
    await using _ = server;
    const client = bareClient(options.socket);
    let text = "";
    client.socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    const closed = new Promise((resolve) => client.socket.once("close", resolve));
    for (const message of messages) client.say(message);
    await closed;
    const last = text.trimEnd().split("\n").at(-1) ?? "";
    expect(last.slice(last.lastIndexOf('{"type":"error"'))).toContain(expected);
    expect(server.acknowledged()).toBe(0);
  });
});

describe("the socket itself", () => {
  test("of a living engine is refused, of a dead one replaced, and gone with its server", async () => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 1);
    expect(serveDatums(options)).rejects.toThrow("an engine serves there");
    await server[Symbol.asyncDispose]();
    expect(existsSync(options.socket)).toBe(false);
    const leave = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])";
    expect(Bun.spawnSync(["python3", "-c", leave, options.socket]).success).toBe(true);
    await using again = await serveDatums(options);
    expect(again.acknowledged()).toBe(0);
  });

  test("never takes the place of a file", async () => {
    await using folder = await temporaryFolder();
    const { server, options } = await serveSteps(folder.path, 1);
    await server[Symbol.asyncDispose]();
    await Bun.write(options.socket, "precious");
    expect(serveDatums(options)).rejects.toThrow("which is a file; choose another path");
    expect(await Bun.file(options.socket).text()).toBe("precious");
  });

  test("whoever waits when it closes is told", async () => {
    await using folder = await temporaryFolder();
    const { server } = await serveSteps(folder.path, 1);
    const waiting = server.whenAcknowledged(1).catch((error: unknown) => String(error));
    await server[Symbol.asyncDispose]();
    expect(await waiting).toContain("The datum server is closed");
  });

  test("a file of acknowledgements that says something else is refused with what to do", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "acknowledged.json");
    await Bun.write(path, '{"acknowledged_steps": -1}');
    expect(readAcknowledged(path)).rejects.toThrow(/"acknowledged_steps": n.*remove the file/);
  });
});
