/**
 * What can go wrong at a server, as records that a script chooses per request. Wire faults replace or damage an answer;
 * sample faults change what is said of a sample before it is written down; some belong to one kind of server.
 */
export type WireFault =
  /** Any status with any body: 429 with `retry-after`, 500 as plain text, 502 as HTML, 410. */
  | {
      readonly type: "status";
      readonly status: number;
      readonly body?: string;
      readonly contentType?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** 200 with a page of HTML, as routers do. */
  | { readonly type: "html" }
  | { readonly type: "reset"; readonly when: "before_headers" | "after_headers" }
  /** Half the body, then the socket closes: content-length says more. */
  | { readonly type: "cut" }
  /** The first byte comes late; null = never. */
  | { readonly type: "stall"; readonly ms: number | null }
  /** The body in pieces of three bytes: characters are split. */
  | { readonly type: "pieces" };

/** `sample` and `token` default to 0. */
export type SampleFault =
  /** null, NaN, −9999, 0.3, −3.4e38 … */
  | {
      readonly type: "logprob";
      readonly value: number | null;
      readonly sample?: number;
      readonly token?: number;
    }
  /** One entry of logprobs too few or too many. */
  | { readonly type: "logprob_count"; readonly by: -1 | 1; readonly sample?: number }
  /** All logprobs are exactly 0, as zero-filling forwarders do. */
  | { readonly type: "zero_logprobs"; readonly sample?: number }
  /** The id in the logprob entry is not the id in the list. */
  | {
      readonly type: "entry_id";
      readonly id: number;
      readonly sample?: number;
      readonly token?: number;
    }
  /** −1, or an id outside the vocabulary, in list and entry alike. */
  | {
      readonly type: "token_id";
      readonly id: number;
      readonly sample?: number;
      readonly token?: number;
    }
  | { readonly type: "sample_count"; readonly by: -1 | 1 }
  /** The samples come in reverse order; their index says so where there is one. */
  | { readonly type: "shuffled" }
  /** The server's own word for the end; null = it says none. */
  | { readonly type: "finish"; readonly reason: string | null; readonly sample?: number }
  /** The server's text is another than that of the ids. */
  | { readonly type: "text"; readonly text: string; readonly sample?: number };

export type GenerationFault =
  /** Somebody aborts every sample after so many tokens: 200 with partial ids. */
  | { readonly type: "abort"; readonly after: number }
  /** The server samples from another prompt than was sent and says so. */
  | { readonly type: "prompt"; readonly change: "truncated" | "begins_twice" }
  /** After so many tokens the version changes; the weights too unless `location` is null. */
  | {
      readonly type: "new_weights";
      readonly after: number;
      readonly version: string;
      readonly location: string | null;
    };

export type KindFault =
  /** SGLang: the last id was made up. */
  | { readonly type: "nan_happened"; readonly sample?: number }
  /** llama.cpp: probabilities lack the tokens of a split character. */
  | { readonly type: "holes"; readonly sample?: number }
  /** llama.cpp before the fix: 500 for output that is no UTF-8. */
  | { readonly type: "invalid_utf8" }
  /** Any `/tokenize`: the text reads back as other ids. */
  | { readonly type: "drift" }
  /** Tinker: `asample` answers 429 so many times. */
  | { readonly type: "backpressure"; readonly times: number }
  /** Tinker: what `retrieve_future` says before the samples, one per call. */
  | { readonly type: "future"; readonly answers: readonly FutureAnswer[] }
  /** Tinker: how the samples are written. */
  | { readonly type: "proto"; readonly form: ProtoForm };

export type FutureAnswer =
  | "try_again"
  | "paused_capacity"
  | "complete_metadata"
  | "error_user"
  | "error_server"
  | 400
  | 408
  | 410
  | 429
  | 500;

export type ProtoForm = "unknown_fields" | "no_logprobs" | "unknown_reason";

export type Fault = WireFault | SampleFault | GenerationFault | KindFault;

const SAMPLE: readonly string[] = [
  "logprob",
  "logprob_count",
  "zero_logprobs",
  "entry_id",
  "token_id",
  "sample_count",
  "shuffled",
  "finish",
  "text",
];

export function isSampleFault(fault: Fault | null): fault is SampleFault {
  return fault !== null && SAMPLE.includes(fault.type);
}

const WIRE: readonly string[] = ["status", "html", "reset", "cut", "stall", "pieces"];

export function isWireFault(fault: Fault | null): fault is WireFault {
  return fault !== null && WIRE.includes(fault.type);
}
