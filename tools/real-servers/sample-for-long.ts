/** `bun sample-for-long.ts NOTE`: samples for as long as the server does; to be killed in the middle. */
import { ask, LONG } from "../../packages/sampler-clients/test/conformance/asked.ts";
import { openClient, type RealServerNote } from "./real-subject.ts";

const note = JSON.parse(process.argv[2]!) as RealServerNote;
const client = await openClient(note);
console.log("sampling");
for (let round = 0; ; round += 1) {
  const request = ask({ ...LONG, seed: 100 * round });
  await client.sampler.sample(request, new AbortController().signal);
}
