/** In: the sandbox settings. Out: what runs the model's code; throws a PersonError where it cannot be had. */
import { createSandbox, type OwnedSandbox, type SandboxOptions } from "@interlace/sandbox";
import { readKey } from "../config/read-key.ts";
import type { Config } from "../config/schema.ts";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";

type Settings = Config["sandbox"];

export async function openSandbox({ sandbox }: Pick<Config, "sandbox">): Promise<OwnedSandbox> {
  const options = sandboxOptions(sandbox);
  try {
    return await createSandbox(options);
  } catch (error) {
    const flag = sandbox.require === "none" ? "" : " (--require none)";
    throw workFailed(`Cannot run the model's code: ${messageOf(error)}${flag}`, error);
  }
}

function sandboxOptions(settings: Settings): SandboxOptions {
  const { backend, require, workers, timeoutSeconds } = settings;
  const common = {
    require,
    limits: { wallSeconds: timeoutSeconds },
    ...(workers === null ? {} : { concurrency: workers }),
  };
  if (backend === "remote") return { ...common, backend, ...remoteOptions(settings) };
  if (settings.url !== null) {
    throw wrongUse(`sandbox.url is set, but sandbox.backend is ${backend}: a service needs remote`);
  }
  const local = {
    ...common,
    autoPrint: settings.autoPrint,
    ...(settings.python === null ? {} : { python: settings.python }),
  };
  const { preload } = settings;
  if (backend === "process" || backend === "bubblewrap") {
    if (preload.length > 0) {
      throw wrongUse(`sandbox.preload is set, but ${backend} imports nothing ahead: use zygote`);
    }
    return { ...local, backend };
  }
  return { ...local, backend, ...(preload.length === 0 ? {} : { preload }) };
}

function remoteOptions({ url, tokenEnv, autoPrint }: Settings) {
  if (url === null)
    throw wrongUse("sandbox.backend is remote: say where it listens, in sandbox.url");
  if (autoPrint) {
    throw wrongUse(
      "sandbox.auto_print is true, but a remote service decides that itself: set it there",
    );
  }
  const urls = typeof url === "string" ? [url] : url;
  if (tokenEnv === null) return { urls };
  return { urls, token: readKey("sandbox.token_env", tokenEnv) };
}
