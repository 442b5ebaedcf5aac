/** `interlace doctor`: its flags. The work is in `doctor/`. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { COLUMNS_FLAG, switchFlag, textFlag } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type DoctorFlags = CommonFlags & {
  readonly sampler?: string;
  readonly url?: string;
  readonly tokenizer?: string;
  readonly model?: string;
  readonly policy?: boolean;
  readonly data?: string;
  readonly columns?: readonly string[];
  readonly require?: string;
  readonly python?: string;
  readonly out?: string;
  readonly preset?: string;
  readonly config?: string;
};

/** Flags that stand for one setting each. */
export const DOCTOR_FLAG_SETTINGS = {
  sampler: "sampler.kind",
  url: "sampler.url",
  tokenizer: "sampler.tokenizer",
  model: "sampler.model",
  data: "data.path",
  require: "sandbox.require",
  python: "sandbox.python",
  out: "run.out",
} as const satisfies Partial<Record<keyof DoctorFlags, string>>;

export const doctorCommand = buildCommand<DoctorFlags, [], CliContext>({
  docs: {
    brief: "Look at this machine, a server, a tokenizer and a policy, with a fix for what is wrong",
    fullDescription:
      "Without arguments: this machine, its sandbox, and the tokenizer in the box. Exit code 1 when something\n" +
      "cannot be used as it is.",
  },
  parameters: {
    flags: {
      sampler: textFlag("Kind of server: vllm, sglang, tgi, llamacpp or tinker", "KIND"),
      url: textFlag("Base URL of the server; several, with commas between", "URL"),
      tokenizer: textFlag("Tokenizer and chat template to look at: a folder or hub name", "DIR"),
      model: textFlag("The model's name, where a server has several", "NAME"),
      policy: switchFlag(
        "Roll out 16 trajectories: is the policy ready for reinforcement learning?",
      ),
      data: textFlag("With --policy: problem file (default: built-in)", "FILE"),
      columns: COLUMNS_FLAG,
      require: textFlag("Least isolation of the sandbox: none, standard or strict", "LEVEL"),
      python: textFlag("Interpreter that runs the model's code (default: python3)", "FILE"),
      out: textFlag("Folder whose disk is looked at (default runs)", "DIR"),
      preset: textFlag("embedded, retool-small or retool-paper", "NAME"),
      config: textFlag("Settings in TOML", "FILE"),
      ...COMMON_FLAGS,
    },
  },
  func(flags) {
    return runCommand(this, flags, async () => {
      const { doctorWork } = await import("../doctor/doctor-work.ts");
      return doctorWork(this, flags);
    });
  },
});
