/** A fake server as a subject of the conformance suite. */
import { weightVersion } from "@interlace/core";
import { createSampler } from "../../src/create-sampler.ts";
import { embeddedPolicyFolder } from "../../src/embedded/load-policy.ts";
import type { SamplerOptionsInput } from "../../src/sampler-options.ts";
import { samplerTokenizer } from "../../src/sampler-tokenizer.ts";
import { serveFake, type FakeServer } from "../../src/testing/index.ts";
import { otherPolicy } from "../support/other-policy.ts";
import type { Subject, Weights } from "./subject.ts";

export type Hold = { readonly pause: string; readonly body: string; readonly resume: string };

/** `location` of a kind that names weights otherwise than by folder. */
export async function openFake(
  fake: FakeServer,
  options: Omit<SamplerOptionsInput, "urls">,
  hold: Hold | null,
): Promise<Subject> {
  const served = await serveFake(fake.app);
  const { tokenizer } = fake.model;
  const client = await createSampler(
    { ...options, urls: [served.url] },
    {
      tokenizer: samplerTokenizer(tokenizer),
      sampling: { temperature: 1, topP: 1, topK: null },
      maxTrajectoryTokens: 512,
      maxAssistantTokens: 96,
      env: { FAKE_KEY: "fake" },
      // Waits of a protocol are not waited for.
      sleep: () => Bun.sleep(1),
    },
    new AbortController().signal,
  );
  if (!client.ok) throw new Error(`${client.line}; complaints: ${fake.complaints.join("; ")}`);
  const live = (): number => fake.model.counts().live;
  const post = async (path: string, body: string): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await fetch(served.url + path, { method: "POST", headers, body });
  };
  return {
    client,
    untilBusy: () => until(() => live() > 0),
    untilIdle: () => until(() => live() === 0),
    hold:
      hold === null
        ? null
        : { pause: () => post(hold.pause, hold.body), resume: () => post(hold.resume, "{}") },
    weights: { first: named("first", embeddedPolicyFolder), other: named("other", otherPolicy()) },
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await served.stop();
      if (fake.complaints.length > 0) throw new Error(fake.complaints.join("; "));
    },
  };
}

function named(version: string, folder: string): Weights {
  return { version: weightVersion(version), location: folder, folder };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1);
}
