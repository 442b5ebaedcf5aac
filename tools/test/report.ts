/**
 * What a test runner itself reports, as counts.
 *
 * In: a JUnit file as bun:test and pytest write it. Out: counts, names of what was skipped, files
 * that appear in it. Refuses to know which runner wrote it, and never reads a closing line.
 */

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface Report extends Counts {
  /** In the order of the report. */
  readonly skippedNames: readonly string[];
  /** As the runner names them; pytest names none. */
  readonly files: ReadonlySet<string>;
}

export const NOTHING_RAN: Counts = { passed: 0, failed: 0, skipped: 0 };

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}

/**
 * Counts each `<testcase>` once, a failure before a skip. Text in a report is escaped, so a tag in
 * it can only be the runner's own.
 */
export function readReport(xml: string): Report {
  const skippedNames: string[] = [];
  const files = new Set<string>();
  let passed = 0;
  let failed = 0;
  const [head = "", ...cases] = xml.split(/<testcase(?=[\s>])/);
  for (const match of head.matchAll(/ file="([^"]*)"/g)) files.add(unescapeXml(match[1] ?? ""));
  for (const testcase of cases) {
    const own = testcase.slice(0, testcase.search(/\/>|>/));
    const file = / file="([^"]*)"/.exec(own)?.[1];
    if (file !== undefined) files.add(unescapeXml(file));
    if (/<(failure|error)[\s>/]/.test(testcase)) failed += 1;
    else if (/<skipped[\s>/]/.test(testcase)) skippedNames.push(nameOf(own));
    else passed += 1;
  }
  return { passed, failed, skipped: skippedNames.length, skippedNames, files };
}

/** The closing line, alone on its line, as people and machines read it. */
export function closingLine(counts: Counts): string {
  const line = `${counts.passed} passed, ${counts.failed} failed`;
  return counts.skipped === 0 ? line : `${line}, ${counts.skipped} skipped`;
}

/** Fine only when something ran and nothing failed. */
export function isGreen(counts: Counts): boolean {
  return counts.failed === 0 && counts.passed > 0;
}

function nameOf(attributes: string): string {
  const name = unescapeXml(/ name="([^"]*)"/.exec(attributes)?.[1] ?? "");
  const group = unescapeXml(/ classname="([^"]*)"/.exec(attributes)?.[1] ?? "");
  return group === "" ? name : `${group} > ${name}`;
}

function unescapeXml(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&#39;", "'")
    .replaceAll("&#10;", "\n")
    .replaceAll("&amp;", "&");
}
