/** Where the Python learner lies in this package: for whoever starts it. */
import { fileURLToPath } from "node:url";

/** Folder that holds the `interlace_learner` package. */
export const learnerSource = fileURLToPath(new URL("../python/src", import.meta.url));

/** Pinned list of what the reference learner needs. */
export const learnerRequirements = fileURLToPath(
  new URL("../python/requirements.txt", import.meta.url),
);
