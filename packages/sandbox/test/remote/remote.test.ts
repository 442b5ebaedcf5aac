import { createSandbox, serveSandbox, type OwnedSandbox } from "../../src/index.ts";
import { conformanceSuite } from "../conformance/conformance.ts";
import { testPython } from "../conformance/differential.ts";
import { prepareSubject } from "../conformance/harness.ts";
import "../conformance/patience.ts";

const { path: python, libraries } = await testPython();

/** A pool, our server before it, and the remote backend before that. */
async function make(options = {}): Promise<OwnedSandbox> {
  const owned = new AsyncDisposableStack();
  const served = owned.use(
    await createSandbox({ backend: "zygote", python, ...options, concurrency: 4 }),
  );
  const { url } = owned.use(serveSandbox(served, { port: 0, token: "secret" }));
  const remote = owned.use(
    await createSandbox({ backend: "remote", urls: [url], token: "secret", ...options }),
  );
  return { ...remote, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

conformanceSuite(
  await prepareSubject({ name: "remote", make, python, libraries, isFirstProcess: true }),
);
