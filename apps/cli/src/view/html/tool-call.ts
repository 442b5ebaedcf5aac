/** One run of the model's code: how it ended, what it printed, and what the model got to read of it. */
import type { ReadToolCall } from "@interlace/train-bridge";
import { formatPlural, formatSeconds } from "../../terminal/format.ts";
import { fold, notice, textBlock } from "./facts.ts";
import { markup, type Html } from "./markup.ts";

/** `read`: the joined observation, as tokens or as text; null = it was not joined. */
export function toolCall(call: ReadToolCall, read: Html | null): Html {
  const { id, status, code, stdout, stderr, usage, truncated } = call;
  const parts = [
    `exit ${call.exit_code ?? "–"}`,
    ...(call.signal === null ? [] : [call.signal]),
    ...(call.limit === null ? [] : [`limit ${call.limit}`]),
    ...(usage === null ? [] : [`${formatSeconds(usage.wall_seconds)} run`]),
    ...(usage === null ? [] : [`${formatSeconds(usage.queued_seconds)} queued`]),
    ...(typeof usage?.cpu_seconds === "number" ? [`${formatSeconds(usage.cpu_seconds)} cpu`] : []),
    ...(typeof usage?.peak_memory_bytes === "number"
      ? [`${(usage.peak_memory_bytes / 2 ** 20).toFixed(1)} MiB`]
      : []),
    ...(truncated ? ["cut for the model"] : []),
  ];
  return markup`<div class="turn tool">
    <h5>
      <span class="role">tool</span>
      <span class="status ${status === "ok" ? "ok" : "bad"}">${status}</span> ${parts.join(" · ")}
      <span class="note">${id}</span>
    </h5>
    ${fold(`code, ${formatPlural(code.split("\n").length, "line")}`, textBlock(code, "code"))}
    ${stream("stdout", stdout, call.stdout_omitted_bytes, false)}${stream("stderr", stderr, call.stderr_omitted_bytes, true)}
    ${read === null ? null : markup`<h5>read by the model</h5>`}
    ${read ?? notice("Not joined: the model did not read this result.")}
  </div>`;
}

function stream(name: string, text: string | null, omitted: number | null, open: boolean): Html {
  if (text === null) return markup``;
  if (text === "") return markup`<p class="note">${name}: empty</p>`;
  const left =
    omitted === null || omitted === 0 ? "" : `, ${formatPlural(omitted, "byte")} omitted`;
  const head = `${name}, ${formatPlural(text.length, "character")}${left}`;
  return fold(head, textBlock(text, name), open);
}
