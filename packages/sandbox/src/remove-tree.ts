import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a folder that a program may have locked against its own user. Follows no symbolic link. */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await unlock(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

async function unlock(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await unlock(join(folder, entry.name));
  }
}
