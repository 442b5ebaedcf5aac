/**
 * One learner on one socket. In: its lines. Out: steps, each a line of JSON and the bytes of an Arrow stream, only when
 * asked for and only as fast as they are taken. Refuses to know where acknowledgements are kept.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { parseLearnerMessage, TRANSPORT_VERSION, type LearnerMessage } from "./learner-message.ts";
import { streamOfFile } from "./stream-of-file.ts";

/** The steps of a run, as the connection needs them. */
export type StepShelf = {
  readonly fileOf: (step: number) => string;
  /** Steps that are on the disk, from the first. */
  readonly offered: () => number;
  /** Resolves to false when no step of this number will come; rejects when aborted. */
  readonly waitFor: (step: number, signal: AbortSignal) => Promise<boolean>;
  readonly acknowledged: () => number;
  /** The first `steps` steps are trained on; on the disk when it resolves. Fewer than known changes nothing. */
  readonly acknowledge: (steps: number) => Promise<void>;
};

export type LearnerConnection = {
  /** Tells the learner why, and hangs up. */
  readonly end: (reason: string) => void;
  /** Never rejects. */
  readonly closed: Promise<void>;
};

export function talkToLearner(socket: Socket, shelf: StepShelf): LearnerConnection {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      gone.abort(new Error("The learner is gone"));
      resolve();
    });
  });
  // A learner that was killed is no error of ours: it comes back, or does not.
  socket.on("error", () => socket.destroy());

  /** The next step to send; null before the hello. */
  let position: number | null = null;
  let isInsideStep = false;
  // Steps are long and wait; what is said meanwhile must not land inside one.
  let output: Promise<void> = Promise.resolve();

  function say(message: Readonly<Record<string, unknown>>): void {
    output = output.then(() => write(`${JSON.stringify(message)}\n`)).catch(hangUp);
  }

  function hangUp(): void {
    socket.destroy();
  }

  async function write(bytes: string | Uint8Array): Promise<void> {
    gone.signal.throwIfAborted();
    if (!socket.write(bytes)) await once(socket, "drain", { signal: gone.signal });
  }

  function end(message: string): void {
    gone.abort(new Error(message));
    // Inside a step a line would be taken for its bytes, and a learner that does not read would hold us for ever.
    if (socket.destroyed || isInsideStep) hangUp();
    else socket.end(`${JSON.stringify({ type: "error", message })}\n`, hangUp);
  }

  async function sendStep(step: number): Promise<void> {
    if (!(await shelf.waitFor(step, gone.signal))) {
      await write(`${JSON.stringify({ type: "end" })}\n`);
      return;
    }
    const stream = await streamOfFile(shelf.fileOf(step));
    gone.signal.throwIfAborted();
    isInsideStep = true;
    await write(`${JSON.stringify({ type: "step", step, bytes: stream.bytes })}\n`);
    for await (const piece of stream.pieces()) await write(piece);
    isInsideStep = false;
  }

  async function take(message: LearnerMessage): Promise<void> {
    if (message.type === "hello") {
      if (position !== null) throw new Error("Expected one hello, got a second");
      const first = message.firstStep ?? shelf.acknowledged();
      if (first > shelf.offered()) {
        throw new Error(
          `Expected a learner of this run, which has ${shelf.offered()} steps, got one that trained on ${first}`,
        );
      }
      // What a checkpoint holds is trained on, though the learner died before it could say so.
      await shelf.acknowledge(first);
      position = first;
      say({ type: "hello", version: TRANSPORT_VERSION, step: first });
      return;
    }
    if (position === null) throw new Error("Expected a hello first");
    if (message.type === "next") {
      const step = position++;
      output = output
        .then(() => sendStep(step))
        .catch((error: unknown) => end(error instanceof Error ? error.message : String(error)));
      return;
    }
    const { step } = message;
    if (step >= position || step > shelf.acknowledged()) {
      const expected = Math.min(shelf.acknowledged(), position - 1);
      throw new Error(
        `Expected steps to be acknowledged in order, up to step ${expected}, got ${step}`,
      );
    }
    await shelf.acknowledge(step + 1);
    say({ type: "acknowledged", step });
  }

  async function listen(): Promise<void> {
    // To leave this loop early would destroy the socket before the reason is out.
    for await (const line of linesOf(socket)) {
      // A learner that was sent away says nothing any more.
      if (gone.signal.aborted) continue;
      try {
        await take(parseLearnerMessage(line));
      } catch (error) {
        end(error instanceof Error ? error.message : String(error));
      }
    }
    hangUp();
  }
  listen().catch(hangUp);
  return { end, closed };
}

async function* linesOf(socket: Socket): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of socket as AsyncIterable<Uint8Array>) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
