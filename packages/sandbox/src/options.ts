import type { ExecLimits, ExecResult, Failure } from "@interlace/core";
import type { Require } from "./isolation.ts";

/** What every sandbox takes. */
export type CommonOptions = {
  /** Construction fails when less is enforced. Default `none`. */
  readonly require?: Require;
  /** Runs at once, ≥ 1. Default: one per core; more queue up, outside their own time limits. */
  readonly concurrency?: number;
  /** Defaults of every run; a request's own limits win. */
  readonly limits?: Partial<ExecLimits>;
};

/** What sandboxes on this machine take besides. */
export type LocalOptions = CommonOptions & {
  /** Path or name of the interpreter; a virtual environment's is fine. Default `python3`. */
  readonly python?: string;
  /** Print the value of a last statement that is an expression, unless it is None. Default off. */
  readonly autoPrint?: boolean;
};

export type SandboxOptions =
  /** The best that this machine gives. */
  | (LocalOptions & { readonly backend?: "auto" })
  | (LocalOptions & { readonly backend: "process" })
  | (CommonOptions & {
      readonly backend: "replay";
      /** Results (and failures) by call id. */
      readonly recorded: ReadonlyMap<string, ExecResult | Failure>;
    });
