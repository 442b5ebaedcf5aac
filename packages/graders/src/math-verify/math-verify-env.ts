import { ensurePythonEnv, type PythonEnv } from "../python-env/ensure-python-env.ts";

export type MathVerifyEnvOptions = {
  /** Environments lie in it; `.interlace/python` of the working folder by default. */
  readonly folder?: string;
  /** Name or path of the interpreter to build on. */
  readonly python?: string;
  /** Told one line before the environment is made. */
  readonly tell?: (line: string) => void;
};

/** The environment that holds Math-Verify as the package pins it: made once, then found. Never rejects. */
export async function ensureMathVerifyEnv(options: MathVerifyEnvOptions = {}): Promise<PythonEnv> {
  const { folder = ".interlace/python", ...rest } = options;
  const list = new URL("../../python/requirements.txt", import.meta.url);
  const requirements = await Bun.file(list).text();
  return ensurePythonEnv({ ...rest, folder, requirements, name: "math-verify" });
}
