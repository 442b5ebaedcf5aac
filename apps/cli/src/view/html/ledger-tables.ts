/** Where every trajectory and every sampled token of a step went. */
import type { Ledger } from "@interlace/core";
import { formatNumber, numberTable, wideTable } from "./facts.ts";
import { markup, type Html } from "./markup.ts";

export function ledgerTables(ledger: Ledger): Html {
  const { trajectories, sampledTokens, terminations, invalidTurns, sandboxRuns, retries } = ledger;
  const causes = [
    ...new Set([...Object.keys(trajectories.dropped), ...Object.keys(sampledTokens.dropped)]),
  ];
  const row = (name: string, left: number, right: number): Html =>
    markup`<tr>
      <th scope="row">${name}</th>
      <td>${formatNumber(left)}</td>
      <td>${formatNumber(right)}</td>
    </tr>`;
  const dropped = causes.map((cause) =>
    row(`dropped: ${cause}`, trajectories.dropped[cause] ?? 0, sampledTokens.dropped[cause] ?? 0),
  );
  const counts = Object.entries({
    ...prefixed("ended by", terminations),
    ...prefixed("invalid turn", invalidTurns),
    "truncated turns": ledger.truncatedTurns,
    "truncated observations": ledger.truncatedObservations,
    "text mismatches": ledger.textMismatches,
    "sandbox runs joined": sandboxRuns.joined,
    "sandbox runs not joined": sandboxRuns.notJoined,
    ...prefixed("retries", retries),
  });
  const rows = [
    row("asked for", trajectories.total, sampledTokens.total),
    row("exported", trajectories.exported, sampledTokens.exported),
    ...dropped,
  ];
  return markup`${wideTable(["", "trajectories", "sampled tokens"], rows)}
    ${numberTable(counts.map(([name, count]) => [name, formatNumber(count)]))}`;
}

function prefixed(
  prefix: string,
  counts: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [`${prefix} ${name}`, count]),
  );
}
