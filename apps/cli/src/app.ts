/** Every command by name, and how help is laid out. A command's work is imported when it runs, never for help. */
import { buildApplication, buildRouteMap, type Application } from "@stricli/core";
import packageJson from "../package.json";
import type { CliContext } from "./cli-context.ts";
import { dataPrepareCommand } from "./commands/data-prepare.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { evalCommand } from "./commands/eval.ts";
import { evalCompareCommand } from "./commands/eval-compare.ts";
import { exportSftCommand } from "./commands/export-sft.ts";
import { replayCommand } from "./commands/replay.ts";
import { rolloutCommand } from "./commands/rollout.ts";
import { serveCommands } from "./commands/serve.ts";
import { trainCommand } from "./commands/train.ts";
import { verifyCommand } from "./commands/verify.ts";
import { viewCommand } from "./commands/view.ts";
import { parserText } from "./parse-errors.ts";

const routes = buildRouteMap<
  | "rollout"
  | "train"
  | "eval"
  | "verify"
  | "doctor"
  | "replay"
  | "view"
  | "data"
  | "export"
  | "serve",
  CliContext
>({
  routes: {
    rollout: rolloutCommand,
    train: trainCommand,
    eval: buildRouteMap({
      routes: { run: evalCommand, compare: evalCompareCommand },
      defaultCommand: "run",
      docs: {
        brief: "How often are the answers right",
        fullDescription:
          "Evaluates a model, and compares evaluations. `interlace eval` with flags alone is `interlace eval run`.",
      },
    }),
    verify: verifyCommand,
    doctor: doctorCommand,
    replay: replayCommand,
    view: viewCommand,
    data: buildRouteMap({
      routes: { prepare: dataPrepareCommand },
      docs: { brief: "Make problem files" },
    }),
    export: buildRouteMap({
      routes: { sft: exportSftCommand },
      docs: { brief: "What a run is good for besides its learner" },
    }),
    serve: serveCommands,
  },
  docs: {
    brief: "Rolls out language models that run code, and hands a learner exact training data",
  },
});

export const app: Application<CliContext> = buildApplication(routes, {
  name: "interlace",
  versionInfo: { currentVersion: packageJson.version },
  scanner: { caseStyle: "allow-kebab-for-camel" },
  documentation: { caseStyle: "convert-camel-to-kebab", onlyRequiredInUsageLine: true },
  localization: { text: parserText },
});
