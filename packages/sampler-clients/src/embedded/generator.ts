/** Uniform numbers in [0, 1) from a seed: one generator per sequence, so a draw never depends on its neighbours. */
export type Generator = () => number;

/** sfc32 (Chris Doty-Humphrey), warmed up so that neighbouring seeds part; 53 random bits per number. */
export function createGenerator(seed: number): Generator {
  let a = seed | 0;
  let b = 0x9e3779b9 | 0;
  let c = 0x243f6a88 | 0;
  let counter = 1;
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 15; i++) next();
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}
