/** In: what is to be trained. Out: a Python that can do it, made once from pinned lists. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePythonEnv } from "@interlace/graders";
import { learnerRequirements, learnerSource } from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import { workFailed } from "../person-error.ts";
import type { LearnerCommand } from "./learner-process.ts";

const ENVIRONMENTS = fileURLToPath(new URL("../../../../.interlace/python", import.meta.url));

/** PyTorch alone is some hundred megabytes. */
const INSTALL_SECONDS = 3600;

/** Of the policies that the learner's own module does not compute, and of adapters. */
const TRANSFORMERS = join(dirname(learnerRequirements), "requirements-transformers.txt");

/** `train.python`: an interpreter of the person's own, taken as it is; null = an environment is made. */
export async function openLearnerEnv(
  { python, policy, loraRank }: Config["train"],
  tell: (line: string) => void,
): Promise<LearnerCommand> {
  if (python !== null) return { python, source: learnerSource };
  const lists = [learnerRequirements];
  if (policy !== null || loraRank > 0) lists.push(TRANSFORMERS);
  const texts = await Promise.all(lists.map((path) => Bun.file(path).text()));
  const env = await ensurePythonEnv({
    folder: ENVIRONMENTS,
    name: "learner",
    requirements: texts.join(""),
    tell,
    timeoutSeconds: INSTALL_SECONDS,
  });
  if (!env.ok) {
    throw workFailed(`Cannot make the learner's Python environment: ${env.detail}`);
  }
  return { python: env.python, source: learnerSource };
}
