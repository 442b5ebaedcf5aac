import type { FileSink, Subprocess } from "bun";

/** Talks in lines with a long-lived child: what is asked is answered by the same line, in any order. */
export type LineClient = AsyncDisposable & {
  /** Resolves when the child has answered; rejects when it is gone. */
  readonly ask: (line: string) => Promise<void>;
};

/** Starts the child and waits for its line `ready`. */
export async function startLineClient(
  command: readonly string[],
  env: Record<string, string>,
): Promise<LineClient> {
  const child: Subprocess<"pipe", "pipe", "inherit"> = Bun.spawn([...command], {
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
    detached: true, // a Ctrl-C at the terminal must not take it before the engine
  });
  const input: FileSink = child.stdin;
  const pending = new Map<string, PromiseWithResolvers<void>>();
  let gone = false;

  async function listen(): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) pending.get(line)?.resolve();
    }
    gone = true;
    for (const waiting of pending.values()) {
      waiting.reject(new Error(`Expected an answer of ${command.join(" ")}, but it ended`));
    }
  }

  async function expect(line: string): Promise<void> {
    if (gone) throw new Error(`Expected ${command.join(" ")} to run, but it has ended`);
    const waiting = Promise.withResolvers<void>();
    pending.set(line, waiting);
    try {
      await waiting.promise;
    } finally {
      pending.delete(line);
    }
  }

  async function send(line: string): Promise<void> {
    await input.write(`${line}\n`);
    await input.flush();
  }

  const listening = listen();
  const ready = expect("ready");
  await ready;
  return {
    async ask(line) {
      // Both at once: a child that ends rejects the answer while the write still fails.
      await Promise.all([expect(line), gone ? null : send(line)]);
    },
    async [Symbol.asyncDispose]() {
      await input.end();
      await child.exited;
      await listening;
    },
  };
}
