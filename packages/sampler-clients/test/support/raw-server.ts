/**
 * A server of bare sockets, for faults that no HTTP framework would commit. `onRequest` gets the request's head and
 * body as text and may write bytes, end, or reset.
 */
import type { Socket, TCPSocketListener } from "bun";

export type RawConnection = {
  readonly socket: Socket<State>;
  readonly text: string;
};
type State = { text: string };

export type RawServer = AsyncDisposable & {
  readonly url: string;
  /** Requests that arrived whole. */
  readonly requests: string[];
  /** Connections that the client closed. */
  closed(): number;
};

export function rawServer(onRequest: (connection: RawConnection) => void): RawServer {
  const requests: string[] = [];
  let closed = 0;
  const listener: TCPSocketListener<State> = Bun.listen<State>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { text: "" };
      },
      data: (socket, chunk) => {
        socket.data.text += chunk.toString("latin1");
        if (!isWhole(socket.data.text)) return;
        const { text } = socket.data;
        socket.data.text = "";
        requests.push(text);
        onRequest({ socket, text });
      },
      close: () => {
        closed += 1;
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    requests,
    closed: () => closed,
    [Symbol.asyncDispose]: () => {
      listener.stop(true);
      return Promise.resolve();
    },
  };
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
  return text.length >= end + 4 + length;
}

/** A complete answer as text. */
export function http(
  status: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const all = {
    "content-type": "application/json",
    ...headers,
    "content-length": String(body.length),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`;
}
