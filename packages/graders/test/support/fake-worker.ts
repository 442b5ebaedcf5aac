/** A worker that speaks the protocol and misbehaves on demand: the prediction says how. */
import { readLines } from "../../src/math-verify/read-lines.ts";

const [mode] = process.argv.slice(2);
const say = (message: object): void => console.log(JSON.stringify(message));

if (mode === "broken") {
  console.error("ModuleNotFoundError: no module");
  process.exit(1);
}
if (mode === "silent") await new Promise<never>(() => setInterval(() => {}, 1e9));
say({ ready: true });

for await (const line of readLines(Bun.stdin.stream())) {
  const { id, prediction } = JSON.parse(line) as { id: number; prediction: string };
  switch (prediction) {
    case "hang":
      for (;;) Bun.sleepSync(1000);
    case "die":
      console.error("Fatal: out of luck");
      process.exit(3);
    case "kill":
      process.kill(process.pid, "SIGKILL");
      break;
    case "babble":
      console.log("no JSON");
      break;
    case "wrong id":
      say({ id: id + 1, kind: "equal" });
      break;
    case "grow":
      for (const hoard: Uint8Array[] = []; ; Bun.sleepSync(1)) {
        hoard.push(new Uint8Array(1e7).fill(1));
      }
    default:
      say({ id, kind: prediction === "no" ? "different" : "equal" });
  }
}
