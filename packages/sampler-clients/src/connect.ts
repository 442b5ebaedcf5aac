/** From a kind to its adapter: the only place that knows all of them. */
import type { Http } from "./http.ts";
import { connectLlamacpp } from "./adapters/llamacpp.ts";
import { connectSglang } from "./adapters/sglang.ts";
import { connectTgi } from "./adapters/tgi.ts";
import { connectTinker } from "./adapters/tinker.ts";
import { connectVllm } from "./adapters/vllm.ts";
import type { ConnectOptions, SamplerKind, Server } from "./server.ts";
import type { Trouble } from "./trouble.ts";

type Connect = (
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
) => Promise<Server | Trouble>;

const ADAPTERS: Readonly<Record<SamplerKind, Connect>> = {
  vllm: connectVllm,
  sglang: connectSglang,
  tgi: connectTgi,
  llamacpp: connectLlamacpp,
  tinker: connectTinker,
};

export function connectServer(
  kind: SamplerKind,
  http: Http,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Server | Trouble> {
  return ADAPTERS[kind](http, options, signal);
}
