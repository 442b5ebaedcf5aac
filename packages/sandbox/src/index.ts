/** Every public name of the sandbox, written by hand. */
export { createSandbox, type OwnedSandbox } from "./create-sandbox.ts";
export type { CommonOptions, LocalOptions, SandboxOptions } from "./options.ts";
export { DEFAULT_LIMITS } from "./limits.ts";
export {
  describeIsolation,
  ISOLATION_LINES,
  lacking,
  type IsolationLine,
  type Require,
} from "./isolation.ts";
export { ratesBetween, type SandboxRates, type SandboxStatistics } from "./statistics.ts";
export { findPython, OLDEST_PYTHON, type Python } from "./python/find-python.ts";
