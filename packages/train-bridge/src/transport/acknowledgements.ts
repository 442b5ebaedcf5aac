/**
 * How many steps a learner has trained on, from the first: one small file beside them, replaced whole.
 * The same file that `interlace_learner.watch` keeps, so a run may change between socket and folder.
 */
import { readFile } from "node:fs/promises";
import { writeJson } from "../write-atomic.ts";

/** No file is 0. Rejects on a file that says anything else than a count. */
export async function readAcknowledged(path: string): Promise<number> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
    throw error;
  }
  const steps = stepsOf(text);
  if (steps === null) {
    throw new Error(
      `Expected ${path} to hold {"acknowledged_steps": n}, got ${text.trim().slice(0, 100)}; ` +
        "write the number of steps that the learner has trained on, or remove the file to begin again",
    );
  }
  return steps;
}

/** On the disk when it resolves. */
export async function writeAcknowledged(path: string, steps: number): Promise<void> {
  await writeJson(path, { acknowledged_steps: steps });
}

function stepsOf(text: string): number | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("acknowledged_steps" in value))
      return null;
    const steps = value.acknowledged_steps;
    return typeof steps === "number" && Number.isSafeInteger(steps) && steps >= 0 ? steps : null;
  } catch {
    return null;
  }
}
