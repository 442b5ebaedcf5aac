/** Every setting that the waste report names is one. */
import { expect, test } from "bun:test";
import { NO_DATUM_REASONS, TERMINATIONS, findWaste, type Ledger } from "@interlace/core";
import { settingsCatalogue } from "../../src/config/catalogue.ts";

test("each cause of a drop and each end leads to a setting that exists", () => {
  const causes = [
    ...NO_DATUM_REASONS.filter((reason) => reason !== "unscored"),
    "not_finished",
    "unscored:sampler_failed:invalid_tokens",
    "unscored:sampler_failed:drift",
    "unscored:sampler_failed:server_error",
    "unscored:tool_failed:sandbox_error",
    "unscored:aborted:aborted",
    "unscored:answer:timeout",
    "unheard_of",
  ];
  const dropped = Object.fromEntries(causes.map((cause) => [cause, 1]));
  const ledger: Ledger = {
    trajectories: { total: 1, exported: 0, dropped },
    sampledTokens: { total: 1, exported: 0, dropped },
    terminations: Object.fromEntries(TERMINATIONS.map((end) => [end, 1])),
    invalidTurns: {},
    truncatedTurns: 1,
    truncatedObservations: 0,
    textMismatches: 0,
    sandboxRuns: { joined: 0, notJoined: 0 },
    retries: {},
  };
  const known = settingsCatalogue();
  const named = findWaste(ledger).map(({ setting }) => setting);
  expect(named.length).toBeGreaterThan(causes.length);
  expect(named.filter((setting) => !known.has(setting))).toEqual([]);
});
