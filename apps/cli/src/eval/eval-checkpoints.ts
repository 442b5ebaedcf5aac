/**
 * What is evaluated, one after the other. In: `--checkpoint [NAME=]WHERE`. Out: names, and the settings of each:
 * a safetensors file or folder of the embedded policy, a server's URL, or the name of a model that the server has.
 */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { WeightFeed } from "@interlace/core";
import { hashWeights } from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";

export type EvalCheckpoint = {
  /** null = what the sampler has anyway, named after its model. */
  readonly name: string | null;
  /** As results name it. */
  readonly where: string | null;
  /** Weights that the embedded policy loads first. */
  readonly weights: string | null;
  readonly sampler: Partial<Config["sampler"]>;
};

export function listCheckpoints(
  given: readonly string[],
  kind: Config["sampler"]["kind"],
): readonly EvalCheckpoint[] {
  if (given.length === 0) return [{ name: null, where: null, weights: null, sampler: {} }];
  const checkpoints = given.map((text) => readCheckpoint(text, kind));
  const names = checkpoints.map(({ name }) => name);
  const double = names.find((name, i) => names.indexOf(name) !== i);
  if (double !== undefined) {
    throw wrongUse(
      `Two checkpoints are called ${double}: name them, as in --checkpoint first=WHERE`,
    );
  }
  return checkpoints;
}

/** Hands the weights to the sampler; throws a PersonError when they are none of its own. */
export async function loadCheckpoint(
  { weights }: EvalCheckpoint,
  feed: WeightFeed | null,
  signal: AbortSignal,
): Promise<void> {
  if (weights === null) return;
  if (feed === null) throw new Error("Expected the embedded policy to take weights");
  try {
    await feed.announce(hashWeights(await Bun.file(weights).bytes()), weights, signal);
  } catch (error) {
    throw workFailed(`Cannot evaluate the weights in ${weights}: ${messageOf(error)}`, error);
  }
}

function readCheckpoint(text: string, kind: Config["sampler"]["kind"]): EvalCheckpoint {
  const [, written = null, where = ""] = /^(?:([\w.-]+)=)?(.+)$/.exec(text) ?? [];
  if (where === "") throw wrongUse("--checkpoint: expected [NAME=]WHERE, seen nothing");
  if (kind === "embedded") {
    const weights = weightsFile(where);
    return { name: written ?? nameOfWeights(weights), where, weights, sampler: {} };
  }
  const isUrl = /^https?:\/\//.test(where);
  const sampler = isUrl ? { url: where } : { model: where };
  return { name: written ?? where.replace(/^https?:\/\//, ""), where, weights: null, sampler };
}

function weightsFile(where: string): string {
  const file =
    existsSync(where) && statSync(where).isDirectory() ? join(where, "model.safetensors") : where;
  if (existsSync(file)) return file;
  throw wrongUse(
    `There are no weights at ${file}: expected a .safetensors file, or a folder with model.safetensors`,
  );
}

function nameOfWeights(file: string): string {
  const name = basename(file, ".safetensors");
  return name === "model" ? basename(dirname(resolve(file))) : name;
}
