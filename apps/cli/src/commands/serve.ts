/** `interlace serve …`: the sandbox and the fake servers as services. */
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import type { FakeKind } from "../serve/serve-fake-work.ts";
import { textFlag, textFlagOr } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type ServeFakeFlags = CommonFlags & { readonly port: number };

export type ServeSandboxFlags = CommonFlags & {
  readonly host: string;
  readonly port: number;
  readonly tokenEnv?: string;
  readonly backend?: string;
  readonly require?: string;
  readonly workers?: string;
  readonly timeout?: string;
  readonly config?: string;
};

function parsePort(given: string): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number <= 65_535) return number;
  const seen = JSON.stringify(given);
  throw new RangeError(`expected a port from 0 (a free one) to 65535, seen ${seen}`);
}

function port(fallback: string) {
  return {
    kind: "parsed",
    parse: parsePort,
    default: fallback,
    brief: "Port, 0 = a free one",
    placeholder: "N",
  } as const;
}

const serveSandboxCommand = buildCommand<ServeSandboxFlags, [], CliContext>({
  docs: {
    brief: "One sandbox over HTTP, for clients of SandboxFusion",
    fullDescription:
      "POST /run_code as SandboxFusion has it, GET /healthz, GET /metrics. Its address is the one line on stdout.\n" +
      "Loopback by default; an address that others can reach needs a token.",
  },
  parameters: {
    flags: {
      host: textFlagOr("127.0.0.1", "Address to listen on", "ADDRESS"),
      port: port("8080"),
      tokenEnv: textFlag("Environment variable that holds the token to ask for", "NAME"),
      backend: textFlag("auto, zygote, bubblewrap or process (default auto)", "NAME"),
      require: textFlag("Least isolation: none, standard or strict", "LEVEL"),
      workers: textFlag("Runs at once (default: one per core)", "N"),
      timeout: textFlag("Wall clock of one run in seconds (default 30)", "SECONDS"),
      config: textFlag("Settings in TOML", "FILE"),
      ...COMMON_FLAGS,
    },
  },
  func(flags) {
    return runCommand(this, flags, async () => {
      const { serveSandboxWork } = await import("../serve/serve-sandbox-work.ts");
      return serveSandboxWork(this, flags);
    });
  },
});

function serveFakeCommand(kind: FakeKind, name: string) {
  return buildCommand<ServeFakeFlags, [], CliContext>({
    docs: {
      brief: `A fake ${name} server over the policy in the box`,
      fullDescription: `Answers as ${name} does, with the exact logprobs of the policy in the box; for trying a client without a GPU.`,
    },
    parameters: { flags: { port: port("0"), ...COMMON_FLAGS } },
    func(flags) {
      return runCommand(this, flags, async () => {
        const { serveFakeWork } = await import("../serve/serve-fake-work.ts");
        return serveFakeWork(this.terminal, flags, kind);
      });
    },
  });
}

export const serveCommands = buildRouteMap({
  routes: {
    sandbox: serveSandboxCommand,
    fakeVllm: serveFakeCommand("vllm", "vLLM"),
    fakeSglang: serveFakeCommand("sglang", "SGLang"),
    fakeTgi: serveFakeCommand("tgi", "TGI"),
    fakeLlamacpp: serveFakeCommand("llamacpp", "llama.cpp"),
    fakeTinker: serveFakeCommand("tinker", "Tinker"),
  },
  docs: { brief: "The sandbox and the fake servers as services" },
});
