/**
 * The work of `interlace replay`: the same run from its recording, with no server and no Python. Without changes
 * it says whether the files come out byte for byte; with changes, where the recording ends.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerFromJson, SCHEDULES, type Group } from "@interlace/core";
import type { RunFacts } from "@interlace/train-bridge";
import type { ReplayFlags } from "../commands/replay.ts";
import { readConfigFile } from "../config/config-file.ts";
import { mergeLayers } from "../config/resolve.ts";
import type { Config } from "../config/schema.ts";
import { workFailed, wrongUse } from "../person-error.ts";
import { exportStep } from "../rollout/export-step.ts";
import { openGrader } from "../rollout/open-grader.ts";
import type { Language } from "../rollout/open-language.ts";
import { findRun, listSteps, type FoundRun } from "../run-folder/find-run.ts";
import { runFolderAt, stepFolderOf, type StepFolder } from "../run-folder/run-folder.ts";
import { formatPlural } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import {
  openRecording,
  recordedConfig,
  recordedLanguage,
  tokenizerFolderOf,
} from "./open-recording.ts";
import { replayStep } from "./replay-step.ts";

type ReplayedStep = {
  readonly step: number;
  readonly groups: readonly Group[];
  readonly missing: readonly string[];
  /** Files that differ from the recorded ones; null = not compared. */
  readonly differing: readonly string[] | null;
};
