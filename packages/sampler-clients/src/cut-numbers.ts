/**
 * Numbers and literals in the bytes of a JSON text. In: a source, a place. Out: the place behind what stands there, or
 * −1 where that is anything else than was asked for; of a number, its value in `found`. What is taken here, JSON takes
 * as well, as the same number; much that JSON takes is refused, for the plain parse to decide. From −1 on there is
 * nothing to read, so that readers can be chained.
 */

export type Source = {
  /** Behind the text stand zeros. Nothing that is read has one, so no reader goes past the end. */
  readonly bytes: Buffer;
  readonly view: DataView;
  readonly length: number;
};

/** More than any literal has. */
const ZEROS = 64;
/** Memory for texts up to this size is kept. */
const KEPT_BYTES = 1 << 22;
let kept = allocate(1 << 16);

function allocate(size: number): Omit<Source, "length"> {
  const bytes = Buffer.alloc(size);
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, size) };
}

/** Holds until the next call: the bytes are copied, as views of each answer cost more. */
export function sourceOf(text: Uint8Array): Source {
  const { length } = text;
  const size = length + ZEROS;
  const isLarge = size > KEPT_BYTES;
  if (!isLarge && kept.bytes.length < size) kept = allocate(2 ** Math.ceil(Math.log2(size)));
  const { bytes, view } = isLarge ? allocate(size) : kept;
  bytes.set(text);
  bytes.fill(0, length, size);
  return { bytes, view, length };
}

/**
 * A text of ASCII, eight bytes or more. Compared eight bytes at a time, as doubles: of bytes below 0x7f none is a NaN, and
 * none is 0, which alone has two forms. The last one overlaps.
 */
export type Literal = {
  readonly length: number;
  readonly doubles: readonly number[];
  readonly last: number;
};

export function literal(text: string): Literal {
  const view = new DataView(new TextEncoder().encode(text).buffer);
  const length = view.byteLength;
  const doubles = Array.from({ length: Math.floor(length / 8) }, (_, i) =>
    view.getFloat64(8 * i, true),
  );
  return { length, doubles, last: view.getFloat64(length - 8, true) };
}

export function readLiteral(
  { view }: Source,
  at: number,
  { doubles, length, last }: Literal,
): number {
  if (at < 0) return -1;
  for (let i = 0; i < doubles.length; i += 1) {
    if (view.getFloat64(at + 8 * i, true) !== doubles[i]) return -1;
  }
  const end = at + length;
  return view.getFloat64(end - 8, true) === last ? end : -1;
}

/** The bytes from `from` to `to`, eight at least and ASCII, once more at `at`. */
export function readSame({ view }: Source, from: number, to: number, at: number): number {
  if (at < 0 || to - from < 8) return -1;
  const shift = at - from;
  for (let place = from; place < to - 8; place += 8) {
    if (view.getFloat64(place, true) !== view.getFloat64(place + shift, true)) return -1;
  }
  return view.getFloat64(to - 8, true) === view.getFloat64(to - 8 + shift, true) ? to + shift : -1;
}

/** The number read last: a second result without an object per number. */
export let found = 0;

const [MINUS, DOT, ZERO, LOWER_CASE, LETTER_E] = [45, 46, 48, 32, 101];

/** Of an id: nine digits at most, none of them a leading zero. */
export function readInteger({ bytes }: Source, from: number): number {
  let at = from;
  let all = 0;
  for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[at]! - ZERO) {
    // Of more than nine digits anything may come out.
    all = (Math.imul(all, 10) + digit) | 0;
    at += 1;
    if (all === 0) break;
  }
  found = all;
  return at === from || at - from > 9 ? -1 : at;
}

/**
 * `-7.843177318572998`, `0.0`, `-1.1920928955078125e-07`. Up to 15 digits are exact; past them the quotient is off by
 * less than 1e-15 of itself, which half precision of a float32 (6e-8) does not see.
 */
export function readDecimal(source: Source, from: number): number {
  const { bytes, view } = source;
  const negative = bytes[from] === MINUS;
  const whole = negative ? from + 1 : from;
  const dot = readInteger(source, whole);
  if (bytes[dot] !== DOT) return -1;
  let all = found;
  let at = dot + 1;
  for (let word = view.getInt32(at, true); isDigits(word); word = view.getInt32(at, true)) {
    all = all * 10_000 + valueOf(word);
    at += 4;
  }
  for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[at]! - ZERO) {
    all = all * 10 + digit;
    at += 1;
  }
  const places = at - dot - 1;
  if (places === 0 || places > 22) return -1;
  const magnitude = all / POWERS[places]!;
  found = negative ? -magnitude : magnitude;
  return (bytes[at]! | LOWER_CASE) === LETTER_E ? readExponent(source, at + 1) : at;
}

/** Those that a double holds exactly. */
const POWERS = Array.from({ length: 23 }, (_, places) => 10 ** places);

/** `-07` and `-7`. */
function readExponent(source: Source, at: number): number {
  const { bytes } = source;
  if (bytes[at] !== MINUS) return -1;
  const mantissa = found;
  const end = readInteger(source, bytes[at + 1] === ZERO ? at + 2 : at + 1);
  if (found > 22) return -1;
  found = mantissa / POWERS[found]!;
  return end;
}

/** Four bytes at once, the first digit in the lowest; adding six carries over from what is above nine. */
function isDigits(word: number): boolean {
  return (word & 0xf0f0f0f0) === 0x30303030 && ((word + 0x06060606) & 0xf0f0f0f0) === 0x30303030;
}

function valueOf(word: number): number {
  const digits = word & 0x0f0f0f0f;
  const pairs = (Math.imul(digits, 10) + (digits >>> 8)) & 0x00ff00ff;
  return Math.imul(pairs & 0xff, 100) + (pairs >>> 16);
}
