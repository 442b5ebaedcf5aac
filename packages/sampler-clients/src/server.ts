/**
 * What an adapter gives: one server, connected. Everything around it (checks, limits, replicas, retries,
 * handshake) works on these types and knows no wire protocol.
 */
import type { SampleRequest, WeightVersion } from "@interlace/core";
import type { Call } from "./http.ts";
import type { RawSample } from "./raw-sample.ts";
import type { Trouble } from "./trouble.ts";

export const SAMPLER_KINDS = ["vllm", "sglang", "tgi", "llamacpp", "tinker"] as const;
export type SamplerKind = (typeof SAMPLER_KINDS)[number];

/** What a server tells of itself when it is connected; nothing in it is measured. */
export type ServerFacts = {
  readonly kind: SamplerKind;
  readonly model: string;
  /** Rows of the model's output; null = it does not tell. */
  readonly vocabSize: number | null;
  /** Tokens of prompt + completion; null = it does not tell. */
  readonly contextLength: number | null;
  readonly versionSource: "per_token" | "per_request" | "none";
  readonly weightVersion: WeightVersion | null;
  /** Whether it takes a seed at all. */
  readonly takesSeeds: boolean;
  readonly stops: "server" | "cut";
  /** Answers 200 when the server would take a request. */
  readonly healthPath: string;
  /** What a person should know of how it is used: `/v1/completions, as scale-out endpoints are off`. */
  readonly notes: readonly { readonly line: string; readonly fix: string | null }[];
};

/** What a server says of its load; null per field = it does not tell. */
export type ServerLoad = {
  readonly running: number | null;
  readonly waiting: number | null;
  /** Share of the KV cache in use, 0 to 1. */
  readonly kvUsage: number | null;
  /** Preemptions (retractions) since its start. */
  readonly preemptions: number | null;
};

export type WeightUpdate = {
  readonly version: WeightVersion;
  /** A path or name that the server can read. */
  readonly location: string;
  readonly form: "full" | "lora";
  /** Requests may be decoding while the weights change; else nothing is in flight. */
  readonly busy: boolean;
};

export interface Server {
  readonly facts: ServerFacts;
  /** Samples of this request that one exchange may ask for; Infinity = no limit known. */
  atOnce(request: SampleRequest): number;
  /** One exchange. `wireId` is unique per attempt, of fixed width. Rejects only on abort. */
  sample(
    request: SampleRequest,
    wireId: string,
    signal: AbortSignal,
  ): Promise<readonly RawSample[] | Trouble>;
  /** Calls that make the server stop decoding this request; closing the socket comes on top. */
  aborts(request: SampleRequest, wireId: string): readonly Call[];
  /** null = it has no metrics, or does not give them now. Rejects only on abort. */
  readLoad(signal: AbortSignal): Promise<ServerLoad | null>;
  /** Leave the seed out from now on: the handshake saw that it makes siblings equal. */
  dropSeeds?(): void;
  /** The weights by which the server samples new requests, asked now; null = it does not tell. */
  readVersion(signal: AbortSignal): Promise<WeightVersion | null>;
  /** Ids that the server makes of a plain text; null = it has no such route. Rejects only on abort. */
  tokenize(plain: string, signal: AbortSignal): Promise<readonly unknown[] | null>;
  /** null = this kind cannot load weights while it runs. */
  readonly updateWeights:
    ((update: WeightUpdate, signal: AbortSignal) => Promise<null | Trouble>) | null;
  /** Ends sessions and timers. */
  close(): Promise<void>;
}

/** What the text bridge (TGI) needs of a tokenizer. */
export type TextCodec = {
  /** Text of ids, special tokens kept, nothing cleaned up. */
  decode(ids: Int32Array): string;
};

/** What the handshake needs on top of it. */
export type SamplerTokenizer = TextCodec & {
  /** Ids that it names: `[0, vocabSize)`. */
  readonly vocabSize: number;
  /** Ids of a plain text, without BOS. */
  encode(plain: string): ArrayLike<number>;
};

export type ConnectOptions = {
  /** null = the first model that the server names. */
  readonly model: string | null;
  readonly codec: TextCodec | null;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};
