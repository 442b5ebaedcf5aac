import type { Captured, ExecLimits } from "@interlace/core";
import { createCapture } from "./capture.ts";

/** Reads one stream of a running program, keeping both ends, and calls `flooded` past the limit. */
export type ReadingOutput = {
  /** Every writer has closed it, or `stop` was called. */
  readonly ended: Promise<void>;
  readonly stop: () => void;
  readonly captured: () => Captured;
};

export function readOutput(
  stream: ReadableStream<Uint8Array>,
  limits: ExecLimits,
  flooded: () => void,
): ReadingOutput {
  const capture = createCapture(limits.keepBytes);
  const reader = stream.getReader();
  async function pull(): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      capture.push(value);
      if (capture.total() > limits.maxOutputBytes) flooded();
    }
  }
  return { ended: pull(), stop: () => void reader.cancel(), captured: capture.finish };
}
