/**
 * In: trajectories as they settle, each exactly once. Out: one live line, or a plain line at every tenth.
 * Counts trajectories, never rounds or tool calls.
 */
import { scoreGrade, type GradedMember } from "@interlace/core";
import { formatReward, formatSeconds, formatShare } from "./format.ts";
import type { Terminal } from "./terminal.ts";

export type Progress = {
  settled(member: GradedMember): void;
  /** So many are expected now. */
  expect(total: number): void;
  /** Ends the line; plain output keeps what it said. */
  end(): void;
};

/** `now` in milliseconds. `liveOnly`: say nothing where there is no live line. */
export function startProgress(
  terminal: Terminal,
  label: string,
  expected: number,
  now: () => number,
  options: { readonly liveOnly?: boolean } = {},
): Progress {
  const began = now();
  let total = expected;
  let settled = 0;
  let scored = 0;
  let correct = 0;
  let reward = 0;
  let tenths = 0;

  const line = (): string => {
    const seconds = Math.max(1e-3, (now() - began) / 1000);
    const rate = settled / seconds;
    const eta = settled === total ? "done" : `ETA ${formatSeconds((total - settled) / rate)}`;
    const parts = [
      `${String(settled).padStart(String(total).length)}/${total} trajectories`,
      formatShare(settled / total).padStart(4),
      `${rate.toFixed(1)}/s`,
      eta,
    ];
    if (scored > 0) {
      parts.push(
        `reward ${formatReward(reward / scored)}`,
        `${formatShare(correct / scored)} right`,
      );
    }
    return `${label}  ${parts.join("  ")}`;
  };

  return {
    settled(member) {
      settled += 1;
      const score = scoreGrade(member.phase.grade);
      if (score !== null) {
        scored += 1;
        correct += score.correct ? 1 : 0;
        reward += score.reward;
      }
      if (terminal.isLive) {
        terminal.live(line());
        return;
      }
      if (options.liveOnly === true) return;
      const reached = Math.floor((settled / total) * 10);
      if (reached === tenths) return;
      tenths = reached;
      terminal.note(line());
    },
    expect(next) {
      total = next;
    },
    end() {
      if (terminal.isLive) terminal.clearLive();
    },
  };
}
