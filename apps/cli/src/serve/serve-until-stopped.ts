/** Keeps a service up until the person, or its supervisor, stops it. Says where it listens, on stdout, once. */
import type { Terminal } from "../terminal/terminal.ts";

export type Service = AsyncDisposable & { readonly url: string };

export async function serveUntilStopped(
  service: Service,
  lines: readonly string[],
  terminal: Terminal,
): Promise<0> {
  for (const line of lines) terminal.note(line);
  terminal.out(service.url);
  const stopped = Promise.withResolvers<void>();
  const stop = (): void => stopped.resolve();
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    await stopped.promise;
    await service[Symbol.asyncDispose]();
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
  return 0;
}
