import type { OwnedSandbox } from "../create-sandbox.ts";

type Row = readonly [labels: string, value: number];

/** What one sandbox did and does, as Prometheus reads it. */
export function renderMetrics(sandbox: OwnedSandbox, refused: number): string {
  const totals = sandbox.statistics();
  const load = sandbox.load();
  return [
    metric("calls_total", "counter", "Runs that ended in a result of the code", [
      ['{outcome="ok"}', totals.ok],
      ['{outcome="timeout"}', totals.timeouts],
      ['{outcome="error"}', totals.errors],
    ]),
    metric("sandbox_errors_total", "counter", "Runs that the sandbox itself failed", [
      ["", totals.sandboxErrors],
    ]),
    metric("retries_total", "counter", "Runs repeated on a fresh worker", [["", totals.retries]]),
    metric("cancelled_total", "counter", "Runs whose client went away", [["", totals.cancelled]]),
    metric("refused_total", "counter", "Requests answered 429", [["", refused]]),
    metric("run_seconds_total", "counter", "Seconds that code ran", [["", totals.runSeconds]]),
    metric("queued_seconds_total", "counter", "Seconds that runs waited for a slot", [
      ["", totals.queuedSeconds],
    ]),
    metric("running", "gauge", "Runs under way", [["", load.running]]),
    metric("waiting", "gauge", "Runs that wait for a slot", [["", load.waiting]]),
  ].join("");
}

function metric(name: string, type: string, help: string, rows: readonly Row[]): string {
  const full = `interlace_sandbox_${name}`;
  const lines = rows.map(([labels, value]) => `${full}${labels} ${value}\n`).join("");
  return `# HELP ${full} ${help}.\n# TYPE ${full} ${type}\n${lines}`;
}
