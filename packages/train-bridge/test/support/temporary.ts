import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of its own that is gone with the block: `await using folder = await temporaryFolder()`. */
export async function temporaryFolder(
  parent = tmpdir(),
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(parent, "interlace-bridge-"));
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
