/** Every public name of the bridge, written by hand, in the order in which data flows. */
export { SCHEMA_VERSION, tableSchema, columnNames, type TableName } from "./schema.ts";
export { metadataFromMap, metadataToMap, type RunFacts, type TableMetadata } from "./metadata.ts";
export type { StepContext } from "./step-context.ts";
export type { ColumnBatch } from "./record-batch.ts";
export { datumTable } from "./datum-batches.ts";
export type { MessageRow, SpanRow } from "./nested-columns.ts";
export { trajectoryTable, type TrajectoryOptions, type TurnTime } from "./trajectory-batches.ts";
export { encodeIpc, type ArrowTable, type IpcFormat } from "./encode-ipc.ts";
export { writeAtomic, writeJson } from "./write-atomic.ts";
export { streamDatums, writeDatums, writeTrajectories } from "./write-step.ts";
export { checkArrowLengths, checkOffsets } from "./check-lengths.ts";
export type { TableSource } from "./read-table.ts";
export { readDatums, type DatumFile, type DatumRow } from "./read-datums.ts";
export {
  readTrajectories,
  type ReadFailure,
  type ReadGrade,
  type ReadMessage,
  type ReadToolCall,
  type ReadTurn,
  type TrajectoryFile,
  type TrajectoryRow,
} from "./read-trajectories.ts";
export { learnerRequirements, learnerSource } from "./learner-files.ts";
export { readAcknowledged, writeAcknowledged } from "./transport/acknowledgements.ts";
export {
  serveDatums,
  type DatumServer,
  type DatumServerOptions,
} from "./transport/serve-datums.ts";
export { TRANSPORT_VERSION } from "./transport/learner-message.ts";
