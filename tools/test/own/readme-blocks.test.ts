import { expect, test } from "bun:test";
import { readBlocks } from "../readme-blocks.ts";

const fence = "```";

test("TypeScript is run as it stands, with what it must print", () => {
  const page = `# Title\n\n${fence}ts\nconsole.log(1);\n${fence}\n\n<!-- output -->\n${fence}text\n1\n${fence}\n`;
  expect(readBlocks(page)).toEqual([
    { language: "ts", line: 3, code: "console.log(1);\n", fate: { kind: "run" }, output: "1\n" },
  ]);
});

test("shell and Python are run where they are marked; unmarked ones are found", () => {
  const page = `<!-- test -->\n${fence}sh\ntrue\n${fence}\n${fence}python\npass\n${fence}\n`;
  expect(readBlocks(page).map(({ language, fate }) => [language, fate.kind])).toEqual([
    ["sh", "run"],
    ["python", "unmarked"],
  ]);
});

test("a mark belongs to the block right after it", () => {
  const page = `<!-- test -->\n\nSome words.\n\n${fence}sh\ntrue\n${fence}\n`;
  expect(readBlocks(page)[0]?.fate).toEqual({ kind: "unmarked" });
});

test("what is not run says why", () => {
  const page = `<!-- not run: needs a\n     GPU -->\n${fence}ts\nboom();\n${fence}\n`;
  expect(readBlocks(page)[0]?.fate).toEqual({ kind: "not_run", reason: "needs a GPU" });
});

test("other languages are no blocks, longer fences hold shorter ones", () => {
  const page = `${fence}\nplain\n${fence}\n${fence}json\n{}\n${fence}\n${fence}\`md\n${fence}ts\nx\n${fence}\n${fence}\`\n`;
  expect(readBlocks(page)).toEqual([]);
});

test("an output without a block is a mistake in the page", () => {
  expect(() => readBlocks(`<!-- output -->\n${fence}text\n1\n${fence}\n`)).toThrow("Line 2");
});

test("a reason ends with its mark: what follows has marks of its own", () => {
  const page = `<!-- not run: no GPU -->\n${fence}sh\na\n${fence}\n<!-- test -->\n${fence}sh\nb\n${fence}\n`;
  expect(readBlocks(page).map(({ fate }) => fate)).toEqual([
    { kind: "not_run", reason: "no GPU" },
    { kind: "run" },
  ]);
});
