/**
 * What a page shows that lies outside the step's files: token texts and reference answers. In: a run. Out: each, or in
 * words why it is not at hand. A page without them is still a page.
 */
import type { TrajectoryRow } from "@interlace/train-bridge";
import type { Config } from "../config/schema.ts";
import { messageOf, wrongUse } from "../person-error.ts";
import { recordedTokenizer } from "../replay/open-recording.ts";
import { carriedInto } from "../rollout/carried-groups.ts";
import { openProblems } from "../rollout/open-problems.ts";
import { stepProblems } from "../rollout/step-problems.ts";
import { readTokenizer } from "../rollout/tokenizer-folder.ts";
import type { FoundRun } from "../run-folder/find-run.ts";
import type { ViewedStep } from "./find-step.ts";
import { createTokenTexts, type TokenTexts } from "./token-texts.ts";

export type AtHand<T> =
  { readonly here: true; readonly value: T } | { readonly here: false; readonly why: string };

const REDACTED = "the run is redacted: its texts are gone";

/** `config` null = the run is redacted. Throws a PersonError when the named folder is not the run's tokenizer. */
export async function openTokenTexts(
  run: FoundRun,
  config: Config | null,
  named: string | undefined,
): Promise<AtHand<TokenTexts>> {
  if (config === null) return missing(REDACTED);
  try {
    const source = await recordedTokenizer(run, config, named);
    if (source === null) {
      return missing("the run's tokenizer was its server's: name a folder of it with --tokenizer");
    }
    const load = await readTokenizer(source.folder);
    const tokenizer = await load();
    const [expected = "", seen] = [
      run.record.input_hashes["tokenizer"],
      await tokenizer.fingerprint(),
    ];
    if (expected !== seen) {
      throw wrongUse(
        `${source.folder} is not the run's tokenizer: expected SHA-256 ${expected.slice(0, 12)}, seen ${seen.slice(0, 12)}; name its folder with --tokenizer`,
      );
    }
    return { here: true, value: createTokenTexts(tokenizer) };
  } catch (error) {
    if (named !== undefined) throw error;
    return missing(messageOf(error));
  }
}

/** The data's answer to a row's question; null = the data has another question in its place. */
export type References = (row: TrajectoryRow) => string | null;

export async function openReferences(
  run: FoundRun,
  config: Config | null,
  { step, metrics }: ViewedStep,
): Promise<AtHand<References>> {
  if (config === null) return missing(REDACTED);
  try {
    const data = await openProblems(config);
    if (data.hash !== run.record.input_hashes["data"]) {
      return missing(`${data.source} has changed since the run was started`);
    }
    const { positions } = await carriedInto(run.folder, config, step);
    const { at } = stepProblems(data.problems, config, metrics, step, positions);
    return {
      here: true,
      value: ({ questionIndex, problemId, messages }) => {
        const { id, question, answer } = at(questionIndex);
        const asked = messages.find(({ role }) => role === "user")?.content;
        return id === problemId && question === asked ? answer : null;
      },
    };
  } catch (error) {
    return missing(messageOf(error));
  }
}

function missing(why: string): { readonly here: false; readonly why: string } {
  return { here: false, why };
}
