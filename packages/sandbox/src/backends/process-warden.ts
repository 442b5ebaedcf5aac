import { startLineClient } from "../line-client.ts";
import { cleanEnvironment, PYTHON_FLAGS, pythonFile } from "../python/environment.ts";
import type { Python } from "../python/find-python.ts";

/** The helper process that ends what calls leave running (`python/process_warden.py`). */
export type Warden = AsyncDisposable & {
  /** Resolves once no process bears the mark of this call. */
  readonly sweep: (call: string) => Promise<void>;
};

/** `mark` begins every call's own; `root` is removed when the engine is gone. */
export async function startWarden(python: Python, mark: string, root: string): Promise<Warden> {
  const start = () =>
    startLineClient(
      [python.executable, ...PYTHON_FLAGS, pythonFile("process_warden.py"), mark, root],
      cleanEnvironment("/"),
    );
  let client = start();
  await client;

  return {
    async sweep(call) {
      const used = client;
      try {
        await (await used).ask(call);
      } catch {
        // It runs as the same user as the code, which may have killed it: one new one for all who wait.
        if (client === used) client = start();
        await (await client).ask(call);
      }
    },
    async [Symbol.asyncDispose]() {
      await (await client)[Symbol.asyncDispose]();
    },
  };
}
