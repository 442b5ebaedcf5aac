/** Numbers and times as a person reads them. */

/** `0.8 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0.1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `12,345`. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** `+0.25`, `−0.31`: a reward always shows its sign. */
export function formatReward(reward: number): string {
  const text = Math.abs(reward).toFixed(2);
  return reward < 0 ? `−${text}` : `+${text}`;
}

/** `37%`. */
export function formatShare(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** `answer 101 · invalid_format 15`, most frequent first. */
export function formatCounts(counts: Readonly<Partial<Record<string, number>>>): string {
  return Object.entries(counts)
    .sort(([, a = 0], [, b = 0]) => b - a)
    .map(([name, count = 0]) => `${name} ${formatCount(count)}`)
    .join(" · ");
}

/** `1 problem`, `3 problems`. */
export function formatPlural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
