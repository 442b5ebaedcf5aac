import type { Key } from "../ports/key.ts";
import type { SampleRequest } from "../ports/sampler.ts";
import type { ExecRequest } from "../ports/sandbox.ts";

/** What a group wants from a port. The answer comes back as the event of the same key. */
export type Command =
  | { readonly type: "sample"; readonly key: Key; readonly request: SampleRequest }
  | { readonly type: "execute"; readonly key: Key; readonly request: ExecRequest }
  | {
      readonly type: "grade";
      readonly key: Key;
      readonly finalText: string;
      /** The problem's reference answer. */
      readonly answer: string;
    };
