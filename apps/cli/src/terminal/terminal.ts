/**
 * Where lines go: results to stdout, everything else to stderr. Colours and a live line only where a person
 * watches; elsewhere plain lines without control codes. Knows no content.
 */
export type Paint = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta";

export type Stream = {
  readonly write: (text: string) => void;
  readonly isTTY: boolean;
  readonly columns: number;
};

export type Terminal = {
  /** One result, a line of its own, to stdout. */
  out(line: string): void;
  /** One note to stderr, above the live line. */
  note(line: string): void;
  /** Replaces the live line; does nothing where there is none. */
  live(line: string): void;
  /** Ends the live line. */
  clearLive(): void;
  readonly isLive: boolean;
  readonly columns: number;
  /** Paints what goes to stdout; the text itself where colours would be noise. */
  paint(text: string, ...paints: readonly Paint[]): string;
};

const CODES: Readonly<Record<Paint, number>> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  magenta: 35,
  cyan: 36,
};

const ERASE_LINE = "\r\u001B[2K";

export function createTerminal(
  stdout: Stream,
  stderr: Stream,
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const hasColours = stdout.isTTY && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const isLive = stderr.isTTY && env["TERM"] !== "dumb";
  let shown = "";

  const erase = (): void => {
    if (shown !== "") stderr.write(ERASE_LINE);
  };
  return {
    isLive,
    columns: stdout.columns,
    out(line) {
      erase();
      shown = "";
      stdout.write(`${line}\n`);
    },
    note(line) {
      erase();
      stderr.write(`${line}\n${shown}`);
    },
    live(line) {
      if (!isLive) return;
      erase();
      shown = line.slice(0, stderr.columns - 1);
      stderr.write(shown);
    },
    clearLive() {
      erase();
      shown = "";
    },
    paint(text, ...paints) {
      if (!hasColours || text === "") return text;
      return `\u001B[${paints.map((paint) => CODES[paint]).join(";")}m${text}\u001B[0m`;
    },
  };
}

/** The process's own streams. A reader that goes away (`| head`) ends the output, not the work. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  return createTerminal(streamOf(process.stdout), streamOf(process.stderr), process.env);
}

function streamOf(stream: NodeJS.WriteStream): Stream {
  return {
    write: (text) => void stream.write(text),
    isTTY: stream.isTTY,
    get columns() {
      return stream.columns ?? 100;
    },
  };
}
