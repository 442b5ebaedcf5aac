/** `interlace doctor`: its flags. The work is in `doctor/`. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
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

function text(brief: string, placeholder: string) {
  return { kind: "parsed", parse: String, optional: true, brief, placeholder } as const;
}

export const doctorCommand = buildCommand<DoctorFlags, [], CliContext>({
  docs: {
    brief: "Look at this machine, a server, a tokenizer and a policy, with a fix for what is wrong",
    fullDescription:
      "Without arguments: this machine, its sandbox, and the tokenizer in the box. Exit code 1 when something\n" +
      "cannot be used as it is.",
  },
  parameters: {
    flags: {
      sampler: text("Kind of server: vllm, sglang, tgi, llamacpp or tinker", "KIND"),
      url: text("Base URL of the server; several, with commas between", "URL"),
      tokenizer: text("Tokenizer and chat template to look at: a folder or hub name", "DIR"),
      model: text("The model's name, where a server has several", "NAME"),
      policy: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Roll out 16 trajectories: is the policy ready for reinforcement learning?",
      },
      data: text("With --policy: problem file (default: built-in)", "FILE"),
      columns: {
        kind: "parsed",
        parse: String,
        optional: true,
        variadic: ",",
        brief: "Columns of the file, as question=problem,answer=solution",
        placeholder: "FIELD=COLUMN",
      },
      require: text("Least isolation of the sandbox: none, standard or strict", "LEVEL"),
      python: text("Interpreter that runs the model's code (default: python3)", "FILE"),
      out: text("Folder whose disk is looked at (default runs)", "DIR"),
      preset: text("embedded, retool-small or retool-paper", "NAME"),
      config: text("Settings in TOML", "FILE"),
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
