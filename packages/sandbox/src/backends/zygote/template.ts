import type { Subprocess } from "bun";
import { cleanEnvironment, PYTHON_FLAGS, pythonFile } from "../../python/environment.ts";
import type { Python } from "../../python/find-python.ts";
import { decodeReport, REPORT_SIZE, type Report } from "./wire.ts";

/** What `python/interlace_child/config.py` reads. */
export type TemplateConfig = {
  readonly socket: string;
  readonly namespaces: boolean;
  readonly landlock: boolean;
  readonly seccomp: boolean;
  readonly run_as: number;
  readonly first_id: number;
  readonly slots: number;
  readonly read_only: readonly string[];
  readonly packages: readonly string[];
  readonly preload: readonly string[];
  readonly preload_optional: readonly string[];
  readonly first_alone: boolean;
  readonly home: string;
  readonly folder: string;
  readonly groups: readonly string[];
  readonly file_bytes: number;
  readonly open_files: number;
  readonly processes: number;
  readonly stack_bytes: number;
};

/** What the template could enforce, as it says itself. */
export type Enforced = {
  /** Version of Landlock, 0 = none. */
  readonly landlock: number;
  readonly seccomp: boolean;
  readonly root: boolean;
  readonly memory_group: boolean;
};

/** One running template. When it ends, every awaited report rejects. */
export type Template = AsyncDisposable & {
  readonly pid: number;
  readonly enforced: Enforced;
  readonly command: (bytes: Uint8Array) => void;
  /** Resolves when this worker has ended; to be asked for before the worker can end. */
  readonly report: (worker: number) => Promise<Report>;
  readonly ended: Promise<void>;
};

/** Rejects with the template's own words when it cannot do what is asked. */
export async function startTemplate(python: Python, config: TemplateConfig): Promise<Template> {
  const child: Subprocess<"pipe", "pipe", "pipe"> = Bun.spawn(
    [python.executable, ...PYTHON_FLAGS, pythonFile("zygote_main.py"), JSON.stringify(config)],
    {
      cwd: "/",
      env: cleanEnvironment(config.home),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      detached: true, // a Ctrl-C at the terminal must not take it before the engine
    },
  );
  const complaints = child.stderr.text();
  const awaited = new Map<number, PromiseWithResolvers<Report>>();
  const hello = Promise.withResolvers<string>();
  const ended = listen();
  let gone = false;

  async function listen(): Promise<void> {
    let rest: Uint8Array = new Uint8Array();
    let greeted = false;
    for await (const chunk of child.stdout) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (!greeted) {
        const newline = rest.indexOf(10);
        if (newline < 0) continue;
        greeted = true;
        hello.resolve(new TextDecoder().decode(rest.subarray(0, newline)));
        rest = rest.subarray(newline + 1);
      }
      for (; rest.length >= REPORT_SIZE; rest = rest.subarray(REPORT_SIZE)) {
        const report = decodeReport(rest.subarray(0, REPORT_SIZE));
        awaited.get(report.worker)?.resolve(report);
        awaited.delete(report.worker);
      }
    }
    gone = true;
    await child.exited;
    const last = (await complaints).trim().split("\n").at(-1);
    const error = new Error(`The template ended${last ? `: ${last}` : ""}`);
    hello.reject(error);
    for (const each of awaited.values()) each.reject(error);
    awaited.clear();
  }

  async function send(bytes: Uint8Array): Promise<void> {
    try {
      await child.stdin.write(bytes);
      await child.stdin.flush();
    } catch {
      // It is gone, which `ended` and every awaited report tell.
    }
  }

  async function end(): Promise<void> {
    await child.stdin.end();
    await ended;
  }

  const line = await hello.promise;
  const said = JSON.parse(line) as Enforced | { readonly error: string };
  if ("error" in said) {
    await end();
    throw new Error(said.error);
  }
  return {
    pid: child.pid,
    enforced: said,
    ended,
    command: (bytes) => void send(bytes),
    report(worker) {
      const waiting = Promise.withResolvers<Report>();
      waiting.promise.catch(() => {}); // told to whoever awaits it; nobody may, of an idle worker
      if (gone) waiting.reject(new Error("The template has ended"));
      else awaited.set(worker, waiting);
      return waiting.promise;
    },
    [Symbol.asyncDispose]: end,
  };
}
