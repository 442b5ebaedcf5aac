/** What differs between one Tinker-compatible service and another, and what a fake one remembers. */
import type { Core, FakeOptions } from "../fake-server.ts";
import type { FakeModel } from "../fake-model.ts";
import type { Fault } from "../faults.ts";

export type FakeTinkerOptions = FakeOptions & {
  /** false: JSON whatever was asked for, as SkyRL answers. */
  readonly protobuf?: boolean;
  /** How long `retrieve_future` waits before it says `try_again` (with protobuf) or 408. */
  readonly pollMs?: number;
  /** Seeds of one request: `seed + i`; or the same for all its samples. */
  readonly seeds?: "each" | "shared";
  /** Header that must carry this key; null = none is asked for. */
  readonly apiKey?: string | null;
};

export type SamplingSession = {
  readonly id: string;
  readonly baseModel: string | null;
  readonly modelPath: string | null;
  readonly model: FakeModel;
};

/** An answer that may be fetched more than once. */
export type FutureResult = {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

export type FutureState = {
  readonly result: Promise<FutureResult>;
  /** Set when the result is there. */
  done: boolean;
  readonly fault: Fault | null;
  /** Scripted answers that were given already. */
  answered: number;
  gone: boolean;
};

export type TinkerCore = Core & {
  readonly tinker: Required<Omit<FakeTinkerOptions, keyof FakeOptions>>;
  readonly sessions: Set<string>;
  readonly sampling: Map<string, SamplingSession>;
  readonly futures: Map<string, FutureState>;
  /** `session/seq_id` → future: the same sequence id again is the same request. */
  readonly submitted: Map<string, string>;
  /** 429s that were given, by `session/seq_id`. */
  readonly heldBack: Map<string, number>;
};
