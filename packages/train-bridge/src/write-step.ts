/** A step's tables as files and streams: the two calls that a rollout needs at its end. */
import type { StepDatums } from "@interlace/core";
import { datumTable } from "./datum-batches.ts";
import { encodeIpc } from "./encode-ipc.ts";
import type { StepContext } from "./step-context.ts";
import { trajectoryTable, type TrajectoryOptions } from "./trajectory-batches.ts";
import { writeAtomic } from "./write-atomic.ts";

/** `datums.arrow`: an Arrow IPC file, one record batch per micro-batch. Bytes written; rejects as `writeAtomic`. */
export async function writeDatums(
  path: string,
  step: StepDatums,
  context: StepContext,
): Promise<number> {
  return writeAtomic(path, encodeIpc(datumTable(step, context, "reused"), "file"));
}

/** `trajectories.arrow`: an Arrow IPC file, record batches of whole groups. Bytes written; rejects as `writeAtomic`. */
export async function writeTrajectories(
  path: string,
  step: StepDatums,
  context: StepContext,
  options: TrajectoryOptions,
): Promise<number> {
  return writeAtomic(path, encodeIpc(trajectoryTable(step, context, options, "reused"), "file"));
}

/** The datums as an Arrow IPC stream, for pipes and sockets: bytes are made as fast as they are taken. */
export function* streamDatums(step: StepDatums, context: StepContext): Generator<Uint8Array> {
  for (const pieces of encodeIpc(datumTable(step, context), "stream")) yield* pieces;
}
