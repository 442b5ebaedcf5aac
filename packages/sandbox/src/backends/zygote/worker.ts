import type { Socket } from "bun";
import type { Captured, ExecLimits } from "@interlace/core";
import { createCapture, type Capture } from "../../capture.ts";
import { encodeHello, ERR, FINE, OUT, type Report } from "./wire.ts";
import type { Template } from "./template.ts";

/** One forked interpreter: made ready ahead of its call, runs one program, is gone. */
export type Worker = {
  readonly number: number;
  /** Resolves when it waits for its program; rejects when it could not be confined. */
  readonly ready: Promise<void>;
  /** How it ended; rejects when the template is gone. */
  readonly report: Promise<Report>;
  /** Sends the program; output is kept from here on, and `flooded` called past the limit. */
  readonly begin: (request: Uint8Array, limits: ExecLimits, flooded: () => void) => void;
  /** Resolves when nobody holds its output any more. */
  readonly closed: Promise<void>;
  /** Throws when the program itself never began: then whatever went wrong is the sandbox's. */
  readonly output: () => { readonly stdout: Captured; readonly stderr: Captured };
  /** Closes both connections: an idle worker then ends by itself. */
  readonly discard: () => void;
};

type Stream = {
  readonly socket: Promise<Socket>;
  readonly closed: Promise<void>;
};

export function openWorker(template: Template, path: string, number: number): Worker {
  const ready = Promise.withResolvers<void>();
  const report = template.report(number);
  let captures: { readonly stdout: Capture; readonly stderr: Capture } | null = null;
  let keep: (which: "stdout" | "stderr", chunk: Uint8Array) => void = () => {};
  let unsent: Uint8Array = new Uint8Array();
  let said: "nothing" | "ready" | "begun" | "broken" = "nothing";
  let complaint = "";

  function send(socket: Socket): void {
    const written = socket.write(unsent);
    if (written > 0) unsent = unsent.subarray(written);
  }

  function hear(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0 && (said === "nothing" || said === "ready")) {
      if (rest[0] !== FINE) said = "broken";
      else if (said === "ready") said = "begun";
      else {
        said = "ready";
        ready.resolve();
      }
      rest = rest.subarray(1);
    }
    if (said === "broken") complaint += new TextDecoder().decode(rest);
    else if (rest.length > 0) keep("stderr", rest);
  }

  const out = connect(path, encodeHello(OUT, number), (chunk) => keep("stdout", chunk), send);
  const err = connect(path, encodeHello(ERR, number), hear, () => {});
  const closed = bothClosed();
  ready.promise.catch(() => {}); // told to whoever awaits it; of a spare one perhaps nobody

  async function bothClosed(): Promise<void> {
    await Promise.all([out.closed, err.closed]);
    ready.reject(new Error(complaint || "the worker ended before it was ready"));
  }

  return {
    number,
    ready: ready.promise,
    report,
    closed,
    begin(request, limits, flooded) {
      const kept = {
        stdout: createCapture(limits.keepBytes),
        stderr: createCapture(limits.keepBytes),
      };
      captures = kept;
      keep = (which, chunk) => {
        kept[which].push(chunk);
        if (kept[which].total() > limits.maxOutputBytes) flooded();
      };
      unsent = request;
      void out.socket.then(send);
    },
    output() {
      if (captures === null || said !== "begun") {
        throw new Error(complaint || "the worker ended before its program began");
      }
      return { stdout: captures.stdout.finish(), stderr: captures.stderr.finish() };
    },
    discard() {
      for (const stream of [out, err]) void stream.socket.then((socket) => socket.terminate());
    },
  };
}

function connect(
  path: string,
  hello: Uint8Array,
  onData: (chunk: Uint8Array) => void,
  onDrain: (socket: Socket) => void,
): Stream {
  const closed = Promise.withResolvers<void>();
  const socket = Bun.connect({
    unix: path,
    socket: {
      open: (opened) => void opened.write(hello),
      data: (_socket, chunk) => onData(chunk),
      drain: onDrain,
      close: () => closed.resolve(),
      error: () => closed.resolve(),
      connectError: () => closed.resolve(),
    },
  });
  // One that cannot connect is closed; `closed` tells.
  socket.catch(() => closed.resolve());
  return { socket, closed: closed.promise };
}
