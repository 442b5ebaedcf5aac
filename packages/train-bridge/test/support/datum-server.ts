/** An engine as its own process, to be killed: serves the steps of a folder. `bun datum-server.ts FOLDER STEPS`. */
import { join } from "node:path";
import { serveDatums } from "../../src/index.ts";

const [folder = "", steps = "0"] = process.argv.slice(2);
const server = await serveDatums({
  socket: join(folder, "learner.sock"),
  fileOf: (step) => join(folder, `${step}.arrow`),
  acknowledgements: join(folder, "acknowledged.json"),
  offered: Number(steps),
});
server.finish();
console.log("serving");
