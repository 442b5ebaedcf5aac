/** The two calls of a model hub that a tokenizer needs. In: names. Out: bytes, or one sentence with what to do. */
export type Hub = {
  /** The commit behind a branch, a tag or a commit. */
  resolve(repository: string, revision: string): Promise<string>;
  /** null = the repository has no such file. */
  read(repository: string, revision: string, file: string): Promise<Uint8Array | null>;
};

export type HubOptions = {
  readonly endpoint: string;
  readonly token: string | null;
  readonly signal: AbortSignal;
};

export function openHub({ endpoint, token, signal }: HubOptions): Hub {
  const base = endpoint.replace(/\/+$/, "");
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  async function get(path: string, what: string): Promise<Response | null> {
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, { headers, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Error(
        `Cannot reach ${base} to download ${what} (${(error as Error).message}): pass a folder with tokenizer.json as --tokenizer, or go online once`,
        { cause: error },
      );
    }
    if (response.status === 404) return null;
    if (response.ok) return response;
    const hint =
      response.status === 401 || response.status === 403
        ? "; set HF_TOKEN to a token that may read it"
        : "";
    throw new Error(`${base} answered ${response.status} for ${what}${hint}`);
  }
  return {
    resolve: async (repository, revision) => {
      const path = `/api/models/${repository}/revision/${encodeURIComponent(revision)}`;
      const response = await get(path, `${repository}@${revision}`);
      const sha = ((await response?.json()) as { sha?: unknown } | undefined)?.sha;
      if (typeof sha === "string" && /^[0-9a-f]{6,64}$/.test(sha)) return sha;
      throw new Error(`${base} knows no ${repository} at revision ${revision}: check the name`);
    },
    read: async (repository, revision, file) => {
      const path = `/${repository}/resolve/${revision}/${file}`;
      const response = await get(path, `${repository}/${file}`);
      return response === null ? null : response.bytes();
    },
  };
}
