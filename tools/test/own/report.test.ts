/** What the closing line counts, on reports that bun:test 1.4.5 and pytest 9.2 wrote. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addCounts, closingLine, isGreen, NOTHING_RAN, readReport } from "../report.ts";
import { judge } from "../step.ts";

const FROM_BUN = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="5" assertions="1" failures="1" skipped="2" time="0.004201952">
  <testsuite name="a.test.ts" file="a.test.ts" tests="5" assertions="1" failures="1" skipped="2" time="0.0008" hostname="vm">
    <testcase name="ok" classname="" time="0.000004" file="a.test.ts" line="2" assertions="0" />
    <testcase name="needs a GPU" classname="" time="0" file="a.test.ts" line="3" assertions="0">
      <skipped />
    </testcase>
    <testcase name="later" classname="" time="0" file="a.test.ts" line="4" assertions="0">
      <skipped message="for now" />
    </testcase>
    <testsuite name="in" file="a.test.ts" line="5" tests="2" assertions="1" failures="1" skipped="0" time="0" hostname="vm">
      <testcase name="fine" classname="in" time="0.000002" file="a.test.ts" line="5" assertions="0" />
      <testcase name="bad" classname="in" time="0.000073" file="a.test.ts" line="5" assertions="1">
        <failure type="AssertionError" message="expected &lt;skipped /&gt;">AssertionError</failure>
      </testcase>
    </testsuite>
  </testsuite>
</testsuites>`;

const FROM_PYTEST = `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4" time="0.1"><testcase classname="test_a" name="test_ok" time="0.001" /><testcase classname="test_a" name="test_bad" time="0.001"><failure message="assert 1 == 2">def test_bad(): assert 1 == 2</failure></testcase><testcase classname="test_a" name="test_setup" time="0.001"><error message="failed on setup">boom</error></testcase><testcase classname="test_a" name="test_gpu" time="0.001"><skipped type="pytest.skip" message="no GPU">test_a.py:3: no GPU</skipped></testcase></testsuite></testsuites>`;

const GREEN = FROM_BUN.replace(/<failure[^]*<\/failure>/, "");

const scratch = mkdtempSync(join(tmpdir(), "interlace-report-"));
afterAll(() => rmSync(scratch, { recursive: true }));

function reportFile(xml: string): string {
  const file = join(scratch, `${Bun.hash(xml)}.xml`);
  writeFileSync(file, xml);
  return file;
}

describe("a report", () => {
  test("of bun:test gives counts, names of skips and files", () => {
    expect(readReport(FROM_BUN)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 2,
      skippedNames: ["needs a GPU", "later"],
      files: new Set(["a.test.ts"]),
    });
  });

  test("of pytest counts errors of a fixture as failures", () => {
    expect(readReport(FROM_PYTEST)).toEqual({
      passed: 1,
      failed: 2,
      skipped: 1,
      skippedNames: ["test_a > test_gpu"],
      files: new Set(),
    });
  });
});

describe("the verdict of a step", () => {
  const files = ["a.test.ts"];

  test("is the report's own", () => {
    const outcome = judge({ code: 1, output: "" }, reportFile(FROM_BUN), files);
    expect(outcome).toMatchObject({ passed: 2, failed: 1, skipped: 2, trouble: [] });
  });

  test("a runner that gives up after green tests has failed", () => {
    const outcome = judge({ code: 139, output: "" }, reportFile(GREEN), files);
    expect(outcome).toMatchObject({ passed: 3, failed: 1 });
  });

  test("a file that never reported has failed, whatever the exit code", () => {
    const outcome = judge({ code: 0, output: "" }, reportFile(GREEN), [...files, "b.test.ts"]);
    expect(outcome).toMatchObject({ passed: 3, failed: 1 });
    expect(outcome.trouble[0]).toStartWith("b.test.ts reported no test");
  });

  test("no report is a failure, and so is an empty one", () => {
    expect(judge({ code: 0, output: "" }, "no-such-file.xml", [])).toMatchObject({ failed: 1 });
    const empty = reportFile("<testsuites></testsuites>");
    expect(judge({ code: 5, output: "" }, empty, [])).toMatchObject({ passed: 0, failed: 1 });
    expect(judge({ code: 0, output: "" }, empty, [])).toMatchObject({ passed: 0, failed: 1 });
  });
});

describe("the closing line", () => {
  test("names skips only where there are some", () => {
    expect(closingLine({ passed: 12, failed: 0, skipped: 0 })).toBe("12 passed, 0 failed");
    expect(closingLine({ passed: 1, failed: 2, skipped: 3 })).toBe("1 passed, 2 failed, 3 skipped");
  });

  test("is green only when something ran", () => {
    expect(isGreen(NOTHING_RAN)).toBe(false);
    expect(isGreen({ passed: 0, failed: 0, skipped: 3 })).toBe(false);
    expect(isGreen({ passed: 1, failed: 0, skipped: 3 })).toBe(true);
    const sum = addCounts(
      { passed: 1, failed: 0, skipped: 1 },
      { passed: 2, failed: 1, skipped: 0 },
    );
    expect(sum).toEqual({ passed: 3, failed: 1, skipped: 1 });
    expect(isGreen(sum)).toBe(false);
  });
});
