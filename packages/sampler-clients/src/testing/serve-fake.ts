/**
 * A fake on a loopback port. A client that goes away aborts the request's signal, so that what samples for it stops;
 * resets and cuts happen on the socket itself.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WIRE_HEADER, type SocketAct } from "./wire-fault.ts";

export type ServedFake = AsyncDisposable & {
  /** `http://127.0.0.1:PORT`, no slash at the end. */
  readonly url: string;
  stop(): Promise<void>;
};

export type Fetchable = { fetch(request: Request): Response | Promise<Response> };

/** `port` 0 = a free one. */
export async function serveFake(
  app: Fetchable,
  options: { readonly port?: number } = {},
): Promise<ServedFake> {
  const server = createServer((incoming, outgoing) => {
    answer(app, incoming, outgoing).catch((error: unknown) => {
      // A bug of a fake or its script: loud, and never a hanging client.
      console.error(error);
      if (!outgoing.headersSent) outgoing.writeHead(599, { "content-type": "text/plain" });
      outgoing.end(String(error));
    });
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  async function stop(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return { url: `http://127.0.0.1:${port}`, stop, [Symbol.asyncDispose]: stop };
}

async function answer(
  app: Fetchable,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const method = incoming.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? null : Buffer.concat(chunks);
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const url = `http://${headers.get("host") ?? "127.0.0.1"}${incoming.url ?? "/"}`;
  const request = new Request(url, { method, headers, body, signal: gone.signal });
  const response = await app.fetch(request);
  if (outgoing.destroyed) return;
  const act = response.headers.get(WIRE_HEADER) as SocketAct | null;
  response.headers.delete(WIRE_HEADER);
  send(outgoing, response, Buffer.from(await response.arrayBuffer()), act);
}

function send(
  outgoing: ServerResponse,
  response: Response,
  body: Buffer,
  act: SocketAct | null,
): void {
  if (act === "reset_before_headers") {
    outgoing.socket?.destroy();
    return;
  }
  response.headers.set("content-length", String(body.length));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  switch (act) {
    case null:
      outgoing.end(body);
      return;
    case "reset_after_headers":
      outgoing.flushHeaders();
      outgoing.socket?.destroySoon();
      return;
    case "cut":
      outgoing.write(body.subarray(0, body.length >> 1), () => outgoing.socket?.destroySoon());
      return;
    case "pieces":
      for (let at = 0; at < body.length; at += 3) outgoing.write(body.subarray(at, at + 3));
      outgoing.end();
  }
}
