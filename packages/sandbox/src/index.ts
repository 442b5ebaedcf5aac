/** Every public name of the sandbox, written by hand. */
export { createSandbox, type OwnedSandbox } from "./create-sandbox.ts";
export type { CommonOptions, LocalOptions, SandboxOptions, ZygoteOptions } from "./options.ts";
export type { RemoteOptions } from "./backends/remote.ts";
export type { Level } from "./backends/zygote/levels.ts";
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
export { createSandboxServer, type SandboxServerOptions } from "./server/sandbox-server.ts";
export {
  serveSandbox,
  type ServedSandbox,
  type ServeSandboxOptions,
} from "./server/serve-sandbox.ts";
