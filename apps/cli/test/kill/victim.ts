/**
 * A process that may be killed at any moment: the real `rollout` command over scripted ports.
 *
 *   bun victim.ts '{"out":"…","resume":null,"asked":"…","seed":1,"steps":2,"problems":6,"groupSize":8,"slowMs":8}'
 *
 * Every request is on disk, in the file `asked`, before it is answered. Says `alive` when it
 * begins, and `asked` for each.
 */
import { openSync, writeSync } from "node:fs";
import { runCommand } from "../../src/commands/run-command.ts";
import { rolloutWork } from "../../src/rollout/rollout-work.ts";
import { processTerminal } from "../../src/terminal/terminal.ts";
import { scriptedPorts } from "../support/scripted-ports.ts";

export type Life = {
  readonly out: string;
  /** The run to go on with; null = a new one. */
  readonly resume: string | null;
  readonly asked: string;
  readonly seed: number;
  readonly steps: number;
  readonly problems: number;
  readonly groupSize: number;
  readonly slowMs: number;
};

if (import.meta.main) {
  const life = JSON.parse(process.argv[2] ?? "") as Life;
  const fd = openSync(life.asked, "a");
  writeSync(1, "alive\n");
  const ports = scriptedPorts({
    seed: life.seed,
    atOnce: 6,
    slowMs: life.slowMs,
    onAsked: (name) => {
      writeSync(fd, `${name}\n`);
      writeSync(1, "asked\n");
    },
  });
  const flags =
    life.resume === null
      ? {
          out: life.out,
          seed: String(life.seed),
          steps: String(life.steps),
          problems: String(life.problems),
          groupSize: String(life.groupSize),
        }
      : { resume: life.resume, steps: String(life.steps) };
  const terminal = processTerminal();
  const context = {
    process,
    terminal,
    env: {},
    setExitCode: (code: 0 | 1 | 2) => {
      process.exitCode = code;
    },
  };
  await runCommand(context, {}, () => rolloutWork(context, flags, { openPorts: ports }));
}
