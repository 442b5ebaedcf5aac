/** In: nothing but the machine. Out: a Python that can learn, made once from a pinned list. */
import { fileURLToPath } from "node:url";
import { ensurePythonEnv } from "@interlace/graders";
import { learnerRequirements, learnerSource } from "@interlace/train-bridge";
import { workFailed } from "../person-error.ts";
import type { LearnerCommand } from "./learner-process.ts";

const ENVIRONMENTS = fileURLToPath(new URL("../../../../.interlace/python", import.meta.url));

/** PyTorch alone is some hundred megabytes. */
const INSTALL_SECONDS = 3600;

/** `python`: an interpreter of the person's own, taken as it is; null = an environment is made. */
export async function openLearnerEnv(
  python: string | null,
  tell: (line: string) => void,
): Promise<LearnerCommand> {
  if (python !== null) return { python, source: learnerSource };
  const env = await ensurePythonEnv({
    folder: ENVIRONMENTS,
    name: "learner",
    requirements: await Bun.file(learnerRequirements).text(),
    tell,
    timeoutSeconds: INSTALL_SECONDS,
  });
  if (!env.ok) {
    throw workFailed(`Cannot make the learner's Python environment: ${env.detail}`);
  }
  return { python: env.python, source: learnerSource };
}
