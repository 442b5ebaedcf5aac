import type { ExecLimits, ExecResult, Failure } from "@interlace/core";
import type { RemoteOptions } from "./backends/remote.ts";
import type { Level } from "./backends/zygote/levels.ts";
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

export type ZygoteOptions = LocalOptions & {
  /** Modules imported ahead of every call, besides the usual ones; a missing one is refused. */
  readonly preload?: readonly string[];
  /** Default: the best that this machine gives. */
  readonly level?: Level;
  /** Root may have the pool run as another, plain user, by id; then no control groups are made. */
  readonly runAs?: number;
};

export type SandboxOptions =
  /** The best that this machine gives. */
  | (ZygoteOptions & { readonly backend?: "auto" })
  | (ZygoteOptions & { readonly backend: "zygote" })
  | (LocalOptions & { readonly backend: "bubblewrap" })
  | (LocalOptions & { readonly backend: "process" })
  | (CommonOptions & RemoteOptions & { readonly backend: "remote" })
  | (CommonOptions & {
      readonly backend: "replay";
      /** Results (and failures) by call id. */
      readonly recorded: ReadonlyMap<string, ExecResult | Failure>;
    });
