/** Every public name of the core, written by hand, in the order in which data flows. */
export type { MathExample } from "./data/math-example.ts";
export { lastBoxed } from "./data/last-boxed.ts";
export {
  formatRefusal,
  tableRecords,
  type RawRecord,
  type RecordPlace,
  type RefusedRecord,
} from "./data/raw-record.ts";
export { formatProblemLine, parseJsonl, type JsonlRecords } from "./data/jsonl.ts";
export { columnReader, parseColumnPath, readColumn } from "./data/column-path.ts";
export { detectLayout, type ColumnMap, type Layout } from "./data/layouts.ts";
export type { DuplicateIds } from "./data/duplicate-ids.ts";
export {
  problemReader,
  readProblems,
  type ProblemReader,
  type ReadOptions,
  type ReadProblems,
} from "./data/read-problems.ts";
export { pythonRandom, type PythonRandom } from "./data/python-random.ts";
export { shuffle, SHUFFLES, type ShuffleName } from "./data/shuffle.ts";
export { mixItems, type MixturePart } from "./data/mixture.ts";
export { filterByLength, type FilteredProblems, type LengthBounds } from "./data/length-filter.ts";
export { batchAt } from "./data/batches.ts";
export {
  prepareProblems,
  startPreparation,
  stripTemplate,
  type Dropped,
  type Preparation,
  type PrepareOptions,
  type Prepared,
  type PrepareStats,
} from "./data/prepare.ts";
export {
  append,
  concatIds,
  NO_TOKENS,
  sampledSegment,
  segment,
  tokensOf,
  type Segment,
  type SegmentKind,
  type Tokens,
} from "./tokens/tokens.ts";
export { strip } from "./tokens/python-whitespace.ts";
export { canonicalJson, sha256Hex } from "./tokens/fingerprint.ts";
export type { AddedToken } from "./tokens/added-tokens.ts";
export type { DecodeStream, TokenDecoder } from "./tokens/decoder.ts";
export type { Splice, TextPiece } from "./tokens/text-encoder.ts";
export type { TokenizerFiles } from "./tokens/tokenizer-json.ts";
export { loadPackedTokenizer, loadTokenizer, type Tokenizer } from "./tokens/tokenizer.ts";
export { packTokenizer } from "./tokens/packed-tokenizer.ts";
export { isLogprob, LOGPROB_CEILING, LOGPROB_FLOOR, LOGPROB_RANGE } from "./tokens/logprob.ts";
export { fail, failureName, type Failure } from "./ports/failure.ts";
export { formatKey, type Key } from "./ports/key.ts";
export {
  weightVersion,
  type LogprobKind,
  type SampleRequest,
  type Sampler,
  type SamplerIdentity,
  type Sequence,
  type VersionSpan,
  type WeightVersion,
} from "./ports/sampler.ts";
export {
  captured,
  EXEC_STATUSES,
  type Captured,
  type ExecLimits,
  type ExecRequest,
  type ExecResult,
  type ExecStatus,
  type ExecUsage,
  type Isolation,
  type Sandbox,
} from "./ports/sandbox.ts";
export type { Grade, Grader } from "./ports/grader.ts";
export type { Event, EventLog, PromptMark } from "./ports/event-log.ts";
export type { WeightFeed } from "./ports/weight-feed.ts";
export {
  createChatTemplate,
  type ChatMessage,
  type ChatTemplate,
  type ChatTemplateOptions,
  type ToolDeclaration,
} from "./protocol/chat-template.ts";
export type { ContentTransform } from "./protocol/content-placement.ts";
export {
  deriveContinuation,
  type Continuation,
  type ContinuationForm,
} from "./protocol/continuation.ts";
export {
  CODE_INTERPRETER,
  DEFAULT_SYSTEM_PROMPT,
  DEFAULT_TOOL,
  TEXT_ONLY_FRAME,
  type QuestionFrame,
} from "./protocol/prompts.ts";
export type { Dialect, InvalidCause, ParsedTurn } from "./protocol/dialects/dialect.ts";
export { qwen3Coder } from "./protocol/dialects/qwen3-coder.ts";
export { textOnly } from "./protocol/dialects/text-only.ts";
export type { Protocol } from "./protocol/protocol.ts";
export { createProtocol, type ProtocolOptions } from "./protocol/create-protocol.ts";
export { rolloutConfigSchema, type RolloutConfig } from "./rollout/config.ts";
export {
  DEFAULT_FAILURE_POLICY,
  failurePolicySchema,
  type FailurePolicy,
} from "./rollout/failure-policy.ts";
export { observationContent, TRUNCATION_LINE } from "./rollout/observation-content.ts";
export {
  fitObservation,
  type FitLimits,
  type FitRequest,
  type FittedObservation,
} from "./rollout/fit-observation.ts";
export {
  isComplete,
  isGraded,
  terminationOf,
  TERMINATIONS,
  trajectoryIndex,
  type GradedMember,
  type Group,
  type Member,
  type Phase,
  type Termination,
  type ToolCall,
  type Turn,
} from "./rollout/group.ts";
export { ANSWER_WINDOW, extractBoxed } from "./reward/boxed.ts";
export type { Judge, Verdict } from "./reward/judge.ts";
export { compareNatively, nativeJudge } from "./reward/native.ts";
export { aimeIntegerJudge } from "./reward/aime-integer.ts";
export { exactJudge } from "./reward/exact.ts";
export { choiceJudge } from "./reward/choice.ts";
export { numericJudge, type Tolerance } from "./reward/numeric.ts";
export { boxedGrader } from "./reward/boxed-grader.ts";
export { scoreGrade, type Score } from "./reward/score.ts";
export { overlongPenalty, type OverlongLimits } from "./reward/overlong.ts";
export {
  scoreShaped,
  shapeReward,
  SHAPINGS,
  type Activity,
  type Shaping,
} from "./reward/shaping.ts";
export {
  gradeScore,
  scoreWith,
  weightScores,
  type CustomScore,
  type ScoreTrajectory,
  type WeightedScore,
} from "./reward/custom-score.ts";
export { groupCentred, isDegenerate } from "./advantage/group-centred.ts";
export {
  createEstimator,
  ESTIMATOR_NAMES,
  type AdvantageEstimator,
  type EstimatorName,
  type EstimatorOptions,
  type Rewards,
} from "./advantage/estimator.ts";
export type { Command } from "./rollout/command.ts";
export { messagesOf, type Message } from "./rollout/messages.ts";
export type { Plan } from "./rollout/plan.ts";
export { requestSeed, splitMix64, stepSeed } from "./rollout/seeds.ts";
export { open, step, type Step } from "./rollout/step.ts";
export { finalText, turnIds, turnText } from "./rollout/turn-text.ts";
export {
  allocateArrays,
  datumLength,
  findNoDatumReason,
  makeDatum,
  NO_DATUM_REASONS,
  projectDatum,
  type Datum,
  type DatumArrays,
  type NoDatumReason,
} from "./datum/datum.ts";
export { joinTurns, type WholeTurn } from "./datum/join-turns.ts";
export {
  DEFAULT_PACKING,
  packMicroBatches,
  scaleAdvantages,
  type MicroBatch,
  type PackingLimits,
} from "./datum/micro-batches.ts";
export {
  allocateArena,
  prepareStep,
  projectMicroBatch,
  type ScoredTrajectory,
  type StepDatums,
  type StepDatumsOptions,
  type TrainedTrajectory,
} from "./datum/step-datums.ts";
export { measureStep, type Metrics } from "./metrics/step-metrics.ts";
export { aggregateTrainer } from "./metrics/trainer-metrics.ts";
export {
  measureEval,
  powersUpTo,
  type Estimate,
  type EvalGeneration,
  type EvalMetrics,
} from "./metrics/eval-metrics.ts";
export { mcnemarTest, signFlipTest, type PairedTest, type Share } from "./metrics/paired-tests.ts";
export {
  buildLedger,
  checkLedger,
  countSampled,
  type Balance,
  type Ledger,
  type LedgerInput,
} from "./metrics/ledger.ts";
export { findWaste, type Waste } from "./metrics/waste.ts";
export { ledgerFromJson, ledgerToJson, type LedgerJson } from "./metrics/ledger-json.ts";
export { RULES, type Rule } from "./verify/rules.ts";
export {
  createReporter,
  type Finding as VerifyFinding,
  type Place,
  type Report,
  type Reporter,
} from "./verify/report.ts";
export type { DatumFacts, DatumRow } from "./verify/datum-row.ts";
export { createDatumFileCheck, type DatumFileCheck } from "./verify/datum-file.ts";
export type { TrajectoryRow } from "./verify/trajectory-row.ts";
export { rebuildGroup } from "./verify/rebuild-group.ts";
export { checkStep, type StepFacts, type StepFiles } from "./verify/step-check.ts";
export { checkGradedText, checkMessages, checkTexts } from "./verify/text-check.ts";
export { checkAnswer, checkSequence } from "./run/check-answer.ts";
export { collect, type Batch, type CollectOptions } from "./run/collect.ts";
export { createFailureBudget, type FailureBudget } from "./run/failure-budget.ts";
export type { Ports } from "./run/issue.ts";
export { rollout, type RolloutOptions } from "./run/rollout.ts";
export {
  selectGroups,
  type CarriedGroup,
  type SelectOptions,
  type Selection,
} from "./run/select.ts";
export { continuous, rounds, SCHEDULES, type Schedule, type ScheduleName } from "./run/schedule.ts";
