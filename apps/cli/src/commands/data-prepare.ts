/** `interlace data prepare`: its flags. */
import { buildCommand } from "@stricli/core";
import type { CliContext } from "../cli-context.ts";
import { COLUMNS_FLAG, textFlagOr } from "./flag-shapes.ts";
import { COMMON_FLAGS, runCommand, type CommonFlags } from "./run-command.ts";

export type DataPrepareFlags = CommonFlags & {
  readonly out: string;
  readonly devSize: number;
  readonly seed: number;
  readonly shuffle: "splitmix64" | "python";
  readonly columns?: readonly string[];
};

export const dataPrepareCommand = buildCommand<DataPrepareFlags, [file: string], CliContext>({
  docs: {
    brief: "Raw data to train.jsonl and dev.jsonl, without doubles",
    fullDescription:
      "Reads .parquet (the DAPO-Math-17k layout among others), .jsonl, .csv or .arrow. DAPO's outer template\n" +
      "is stripped, equal problems count once, the first --dev-size after the shuffle are held out.",
  },
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ brief: "File to prepare", parse: String, placeholder: "FILE" }],
    },
    flags: {
      out: textFlagOr("data", "Folder to write to", "DIR"),
      devSize: {
        kind: "parsed",
        parse: parseCount,
        default: "50",
        brief: "Problems held out",
        placeholder: "N",
      },
      seed: {
        kind: "parsed",
        parse: parseCount,
        default: "42",
        brief: "Seed of the shuffle",
        placeholder: "N",
      },
      shuffle: {
        kind: "enum",
        values: ["python", "splitmix64"],
        default: "python",
        brief: "Generator of the shuffle; python = random.Random(seed).shuffle",
      },
      columns: COLUMNS_FLAG,
      ...COMMON_FLAGS,
    },
  },
  func(flags, file) {
    return runCommand(this, flags, async () => {
      const { prepareWork } = await import("../data-files/prepare-work.ts");
      return prepareWork(this.terminal, flags, file);
    });
  },
});

function parseCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new RangeError(`expected an integer of at least 0, seen ${JSON.stringify(text)}`);
}
