/**
 * The Parquet library reads columns side by side; when one is damaged it throws and leaves the others' promises to
 * nobody, and a rejection that nobody hears ends the process. In: a part of the library's file names, a reading,
 * the reads of bytes that it may still wait for. Out: its result or its error, and silence about what it left behind. Any other stray rejection is a bug and stays one.
 */
export async function withoutStrays<T>(
  library: string,
  read: () => Promise<T>,
  pending: Iterable<Promise<unknown>>,
): Promise<T> {
  const onStray = (reason: unknown): void => {
    if (reason instanceof Error && (reason.stack ?? "").includes(library)) return;
    throw reason;
  };
  process.on("unhandledRejection", onStray);
  try {
    return await read();
  } catch (error) {
    // What was left behind rejects by the end of the turn in which its bytes come.
    await Promise.allSettled(pending);
    await new Promise((resolve) => setTimeout(resolve, 0));
    throw error;
  } finally {
    process.off("unhandledRejection", onStray);
  }
}
