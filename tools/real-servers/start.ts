/** Starts one real server on loopback and waits until it answers. Out: its URL; ends it by its own process id. */
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export type RealServer = AsyncDisposable & { readonly url: string; readonly log: string };

export type VllmOptions = {
  readonly python: string;
  readonly policy: string;
  readonly logprobs: "raw" | "processed";
  /** false: as vLLM starts by default, without `/inference/v1/generate`. */
  readonly scaleOut: boolean;
};

/** Importing vLLM alone takes half a minute, minutes on a busy machine. */
const VLLM_MS = 900_000;
const LLAMACPP_MS = 30_000;

export function startVllm(dir: string, options: VllmOptions): Promise<RealServer> {
  const port = freePort();
  const { python, policy, logprobs, scaleOut } = options;
  const flags =
    `--model ${policy} --served-model-name interlace-embedded --host 127.0.0.1 --port ${port} ` +
    "--dtype float32 --max-model-len 512 --max-num-seqs 32 --enforce-eager";
  const command = [python, "-m", "vllm.entrypoints.openai.api_server", ...flags.split(" ")];
  if (logprobs === "processed") command.push("--logprobs-mode", "processed_logprobs");
  if (scaleOut) command.push("--enable-scale-out");
  const env = {
    VLLM_SERVER_DEV_MODE: "1",
    VLLM_CPU_KVCACHE_SPACE: "1",
    VLLM_NO_USAGE_STATS: "1",
    DO_NOT_TRACK: "1",
    HF_HUB_OFFLINE: "1",
    OMP_NUM_THREADS: "1",
  };
  return start(
    `vllm-${logprobs}${scaleOut ? "" : "-completions"}`,
    command,
    env,
    dir,
    port,
    VLLM_MS,
  );
}

/** Real server, scheduler and sampler; attention and sampling by torch, kernels stubbed (`sglang-stubs`). */
export function startSglang(dir: string, python: string, policy: string): Promise<RealServer> {
  const port = freePort();
  const flags =
    `--model-path ${policy} --served-model-name interlace-embedded --host 127.0.0.1 --port ${port} ` +
    "--device cpu --dtype float32 --attention-backend torch_native --sampling-backend pytorch " +
    "--grammar-backend none --disable-cuda-graph --disable-overlap-schedule --skip-server-warmup " +
    "--context-length 512 --max-total-tokens 20000 --max-running-requests 32 --enable-metrics";
  const command = [python, "-m", "sglang.launch_server", ...flags.split(" ")];
  const env = {
    PYTHONPATH: join(import.meta.dir, "sglang-stubs"),
    SGLANG_USE_CPU_ENGINE: "1",
    HF_HUB_OFFLINE: "1",
    OMP_NUM_THREADS: "1",
  };
  return start("sglang", command, env, dir, port, VLLM_MS);
}

/** The API answers long before its engine has loaded the model; a first sample waits for that. */
export function startSkyrl(dir: string, python: string, policy: string): Promise<RealServer> {
  const port = freePort();
  const shims = join(import.meta.dir, "skyrl-shims");
  const backend = '{"max_lora_adapters":2,"max_lora_rank":4,"train_micro_batch_size":1}';
  const flags = `--host 127.0.0.1 --port ${port} --base-model ${policy} --backend jax --backend-config ${backend}`;
  const store = `--checkpoints-base ${dir}/skyrl --database-url sqlite:///${dir}/skyrl-${port}.db`;
  const command = [
    join(shims, "uv"),
    "run",
    "-m",
    "skyrl.tinker.api",
    ...`${flags} ${store}`.split(" "),
  ];
  const env = {
    PATH: `${shims}:${process.env["PATH"]}`,
    PYTHONPATH: shims,
    SKYRL_PYTHON: python,
    HF_HUB_OFFLINE: "1",
    JAX_PLATFORMS: "cpu",
  };
  return start("skyrl", command, env, dir, port, VLLM_MS, "/api/v1/healthz");
}

export function startLlamacpp(dir: string, program: string, gguf: string): Promise<RealServer> {
  const port = freePort();
  // The wheel brings Vulkan; without flash attention and with an F32 cache it computes as torch does in float32.
  const flags =
    `-m ${gguf} --alias interlace-embedded --host 127.0.0.1 --port ${port} -c 2048 -np 4 -t 1 ` +
    "--metrics --no-warmup --device none -fa off -ctk f32 -ctv f32";
  const command = [program, ...flags.split(" ")];
  const env = { LD_LIBRARY_PATH: dirname(program) };
  return start("llamacpp", command, env, dir, port, LLAMACPP_MS);
}

async function start(
  name: string,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  dir: string,
  port: number,
  limitMs: number,
  /** SGLang's `/health` runs a generation, which a cold server takes long for: its model route answers at once. */
  ready = "/v1/models",
): Promise<RealServer> {
  const log = join(dir, `${name}.log`);
  const out = openSync(log, "w");
  const child = Bun.spawn(["nice", "-n", "5", ...command], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdout: out,
    stderr: out,
  });
  closeSync(out);
  // A server must not outlive the program that started it, however that ends.
  const orphaned = (): void => child.kill("SIGTERM");
  process.on("exit", orphaned);
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await child.exited;
    clearTimeout(late);
    process.off("exit", orphaned);
  };
  const until = Date.now() + limitMs;
  while (!(await answers(url + ready))) {
    if (child.exitCode === null && Date.now() < until) {
      await Bun.sleep(250);
      continue;
    }
    await stop();
    const tail = (await readFile(log, "utf8")).split("\n").slice(-30).join("\n");
    throw new Error(`${name} did not start (${log}):\n${tail}`);
  }
  return { url, log, [Symbol.asyncDispose]: stop };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}

function freePort(): number {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const port = server.port!;
  server.stop(true).catch(() => {});
  return port;
}
