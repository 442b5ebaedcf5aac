import type { Failure } from "./failure.ts";
import type { Grade } from "./grader.ts";
import type { Key } from "./key.ts";
import type { Sequence } from "./sampler.ts";
import type { ExecResult } from "./sandbox.ts";

/** Length and running hash of the prompt that was sent: proves on resume that the same tokens were rebuilt. */
export type PromptMark = { readonly length: number; readonly hash: number };

/** Everything that ever happens to a group: answers of ports, keyed. An abort is no event. */
export type Event =
  | {
      readonly type: "sampled";
      readonly key: Key;
      readonly prompt: PromptMark;
      /** `group_size` entries for a first request, one for later turns. */
      readonly sequences: readonly (Sequence | Failure)[];
    }
  | { readonly type: "executed"; readonly key: Key; readonly result: ExecResult | Failure }
  | { readonly type: "graded"; readonly key: Key; readonly grade: Grade };

export interface EventLog {
  /** Buffered; called before the commands that the event causes are issued. */
  append(event: Event): void;
  /** Everything appended is written. Called before a group is yielded. Rejects when it cannot be written. */
  flush(): Promise<void>;
}
