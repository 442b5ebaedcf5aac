/** `docs/configuration.md` and the help texts say what the schema says. */
import { expect, test } from "bun:test";
import { EVAL_FLAG_SETTINGS } from "../../src/commands/eval.ts";
import { FLAG_SETTINGS } from "../../src/commands/rollout.ts";
import { settingsCatalogue } from "../../src/config/catalogue.ts";
import { runCli } from "../support/cli.ts";
import { GENERATED_FROM, renderSettings, SETTINGS_DOC } from "../support/settings-doc.ts";

test("every setting and every preset stands in the docs; `bun apps/cli/test/support/settings-doc.ts` writes them", async () => {
  const text = await Bun.file(SETTINGS_DOC).text();
  expect(text.slice(text.indexOf(GENERATED_FROM)).split("\n")).toEqual(
    renderSettings().split("\n"),
  );
});

test.each([
  ["rollout", ["rollout"], FLAG_SETTINGS],
  ["eval", ["eval", "run"], EVAL_FLAG_SETTINGS],
])("defaults in the help of %s are the schema's", async (_, command, settings) => {
  const { stdout } = await runCli([...command, "--help"], import.meta.dir);
  for (const [flag, name] of Object.entries(settings)) {
    const kebab = flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const [line = ""] = stdout.split("\n").filter((each) => each.includes(`[--${kebab}]`));
    expect(line).not.toBe("");
    const [, said] = /\(default ([\w.-]+)[;)]/.exec(line) ?? [];
    if (said !== undefined) expect(said).toBe(String(settingsCatalogue().get(name)?.fallback));
  }
});
