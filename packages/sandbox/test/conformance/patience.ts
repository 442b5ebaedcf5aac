/** To be imported for its effect: starting interpreters on a busy machine takes long, and is no failure. */

import { setDefaultTimeout } from "bun:test";

setDefaultTimeout(60_000);
