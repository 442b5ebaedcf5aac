/** An engine that has judged, tells its workers and goes on: to be killed. */
import { mathVerifyJudge } from "../../src/index.ts";

const [python = "", prediction = "x", timeout = "10"] = process.argv.slice(2);
const never = new AbortController().signal;
const judge = mathVerifyJudge({ python, workers: 1, timeoutSeconds: Number(timeout) });
await judge.judge("x", "x", never);
const verdict = judge.judge("1", prediction, never);
console.log(judge.pids().join(" "));
await verdict;
