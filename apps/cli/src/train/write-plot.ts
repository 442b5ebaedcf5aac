/** In: the metrics lines of a run. Out: its reward curve as SVG and PNG, steps from 1, rewards from −1 to +1. */
import { join } from "node:path";
import { writeAtomic } from "@interlace/train-bridge";
import { renderPng } from "../plot/render-png.ts";
import type { MetricsLine } from "../run-folder/metrics-file.ts";
import type { RunFolder } from "../run-folder/run-folder.ts";
import { movingMean } from "./reward-curve.ts";

const WIDTH = 720;
const HEIGHT = 400;
const LEFT = 56;
const RIGHT = 20;
const TOP = 40;
const BOTTOM = 48;

type Point = readonly [x: number, y: number];

/** Files that were written; none where there is no step. */
export async function writePlot(
  folder: RunFolder,
  lines: readonly MetricsLine[],
): Promise<readonly string[]> {
  if (lines.length === 0) return [];
  const svg = drawCurve(lines);
  const vector = join(folder.path, "reward.svg");
  const picture = join(folder.path, "reward.png");
  await writeAtomic(vector, [[new TextEncoder().encode(svg)]]);
  await writeAtomic(picture, [[await renderPng(svg)]]);
  return [vector, picture];
}

export function drawCurve(lines: readonly MetricsLine[]): string {
  const last = Math.max(2, lines.length);
  const x = (step: number) => LEFT + ((step - 1) / (last - 1)) * (WIDTH - LEFT - RIGHT);
  const y = (reward: number) => TOP + ((1 - reward) / 2) * (HEIGHT - TOP - BOTTOM);
  const rewards = lines.map((line) => line["reward/mean"] ?? 0);
  const points = (values: readonly number[]) =>
    values.map((value, i): Point => [x(i + 1), y(value)]);
  const held = lines.flatMap((line): readonly Point[] => {
    const score = line["eval/reward"];
    return score === undefined ? [] : [[x(line.step + 1), y(score)]];
  });
  const ticks = [-1, -0.5, 0, 0.5, 1];
  const steps = [1, ...[0.25, 0.5, 0.75, 1].map((share) => Math.max(1, Math.round(share * last)))];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="13">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    ...ticks.flatMap((tick) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(tick)}" y2="${y(tick)}" stroke="#dddddd"/>`,
      `<text x="${LEFT - 8}" y="${y(tick) + 4}" text-anchor="end" fill="#444444">${tick > 0 ? "+" : ""}${tick}</text>`,
    ]),
    ...[...new Set(steps)].map(
      (step) =>
        `<text x="${x(step)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#444444">${step}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle" fill="#444444">training step</text>`,
    polyline(points(rewards), "#b9cbe4", 1),
    polyline(points(movingMean(rewards)), "#1f5fa8", 2.5),
    ...held.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="4" fill="#d1701c"/>`),
    ...legend([
      ["#b9cbe4", "reward of a step"],
      ["#1f5fa8", "mean of 10 steps"],
      ...(held.length > 0 ? [["#d1701c", "held-out problems"] as const] : []),
    ]),
    "</svg>",
    "",
  ].join("\n");
}

function polyline(points: readonly Point[], colour: string, width: number): string {
  const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${width}"/>`;
}

function legend(entries: readonly (readonly [colour: string, label: string])[]): string[] {
  return entries.flatMap(([colour, label], i) => {
    const at = LEFT + i * 190;
    return [
      `<rect x="${at}" y="14" width="14" height="14" fill="${colour}"/>`,
      `<text x="${at + 20}" y="26" fill="#222222">${label}</text>`,
    ];
  });
}
