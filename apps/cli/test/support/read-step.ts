/** A step's files as pyarrow sees them, without what may differ between two runs that are the same. */
import { join } from "node:path";
import { askPython } from "./cli.ts";

const SCRIPT = `
import json, sys
import pyarrow.ipc as ipc

def rows(path):
    table = ipc.open_file(path).read_all()
    metadata = {k.decode(): v.decode() for k, v in table.schema.metadata.items()}
    return metadata, table.to_pylist()

folder = sys.argv[1]
out = {"ledger": json.load(open(folder + "/ledger.json"))}
for name in ("datums", "trajectories"):
    metadata, table = rows(folder + "/" + name + ".arrow")
    for row in table:
        del row["run_id"]
        if name == "trajectories":
            for turn in row["turns"]:
                assert turn.pop("start_time") <= turn.pop("end_time")
            for call in row["tool_calls"]:
                del call["usage"]
    out[name] = table
    out[name + "_metadata"] = metadata
json.dump(out, sys.stdout)
`;

export type Row = Readonly<Record<string, unknown>>;
export type StepFiles = {
  readonly datums: readonly Row[];
  readonly trajectories: readonly Row[];
  readonly datums_metadata: Readonly<Record<string, string>>;
  readonly trajectories_metadata: Readonly<Record<string, string>>;
  readonly ledger: {
    readonly trajectories: {
      readonly total: number;
      readonly exported: number;
      readonly dropped: Readonly<Record<string, number>>;
    };
  };
};

export async function readStep(run: string, step = 0): Promise<StepFiles> {
  const folder = join(run, `step-${String(step).padStart(6, "0")}`);
  return (await askPython(SCRIPT, [folder])) as StepFiles;
}
