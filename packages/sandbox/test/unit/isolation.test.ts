import { expect, test } from "bun:test";
import {
  describeIsolation,
  explain,
  isolationOf,
  ISOLATION_LINES,
  lacking,
  type IsolationReport,
} from "../../src/isolation.ts";

const all = Object.fromEntries(
  ISOLATION_LINES.map((name) => [name, true]),
) as unknown as IsolationReport;

test("standard asks for four lines, strict for all, none for nothing", () => {
  const isolation = isolationOf("b", "l", { ...all, no_network: "open", disk_total: "unbounded" });
  expect(lacking(isolation, "none")).toEqual([]);
  expect(lacking(isolation, "standard").map((line) => line.name)).toEqual(["no_network"]);
  expect(lacking(isolation, "strict")).toEqual([
    { name: "no_network", holds: false, why: "open" },
    { name: "disk_total", holds: false, why: "unbounded" },
  ]);
});

test("a line that a backend does not tell does not hold", () => {
  const isolation = { backend: "b", level: "l", lines: [] };
  expect(lacking(isolation, "standard")).toHaveLength(4);
});

test("the first open line tells why nothing better was to be had", () => {
  const report = explain({ ...all, no_network: "open", disk_total: "unbounded" }, "no namespaces");
  expect([report.no_network, report.disk_total]).toEqual([
    "open (better was tried: no namespaces)",
    "unbounded",
  ]);
  expect(explain(all, "x")).toEqual(all);
});

test("one line says what is not contained", () => {
  expect(describeIsolation(isolationOf("zygote", "root", all))).toBe(
    "zygote (root): all contained",
  );
  expect(describeIsolation(isolationOf("process", "linux", { ...all, no_network: "open" }))).toBe(
    "process (linux): not contained: no_network",
  );
});
