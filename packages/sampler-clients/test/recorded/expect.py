"""What each recorded exchange must be read as, worked out from the raw JSON alone.

An oracle for recorded.test.ts: it shares no code with the adapters and follows samplers.md section 1.
Run: python3 expect.py   (reads exchanges.jsonl.gz, writes expected.jsonl, both beside it)
"""
import gzip
import hashlib
import json
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
CONTEXT = 1024


def main():
    with gzip.open(os.path.join(HERE, "exchanges.jsonl.gz"), "rt", encoding="utf-8") as lines:
        exchanges = [json.loads(line) for line in lines]
    with open(os.path.join(HERE, "expected.jsonl"), "w", encoding="utf-8") as out:
        for exchange in exchanges:
            out.write(json.dumps(expect(exchange), separators=(",", ":")) + "\n")


def expect(exchange):
    request, response = exchange["request"], exchange["response"]
    row = {"file": exchange["file"]}
    status = response["status"]
    if status != 200:
        return row | trouble(status)
    body = response.get("body")
    if body is None:
        text = response.get("body_text")
        if text is None:
            text = bytes.fromhex(response.get("body_hex", "")).decode()
        try:
            body = json.loads(text)
        except ValueError:
            return row | {"reading": "no_json"}
    asked = sampling(exchange["file"], request)
    if asked is None:
        return row | {"reading": "json"}
    asked["vocab"] = 49152 if "smollm2" in exchange["file"] else 576
    return row | {"reading": "samples", "asked": asked, "samples": read(asked, body)}


def trouble(status):
    again = status in (408, 425, 429) or 502 <= status <= 504 or 520 <= status <= 529
    cause = "server_error" if again or status >= 500 or status == 424 else "refused"
    return {"reading": "trouble", "cause": cause, "again": again}


def sampling(file, request):
    """What was asked, in the words of the port; None = the exchange samples nothing."""
    path, body = request["path"], request.get("body")
    if not isinstance(body, dict):
        return None
    if path == "/inference/v1/generate":
        p, prompt = body["sampling_params"], body["token_ids"]
        return ask("vllm-generate", prompt, p.get("n", 1), p.get("max_tokens", CONTEXT - len(prompt)), p)
    if path == "/v1/completions" and file.startswith("vllm"):
        prompts = body["prompt"] if isinstance(body["prompt"][0], list) else [body["prompt"]]
        n = body.get("n", 1) * len(prompts)
        return ask("vllm-completions", prompts[0], n, body.get("max_tokens", 16), body)
    if path == "/generate":
        prompts = body["input_ids"] if isinstance(body["input_ids"][0], list) else [body["input_ids"]]
        p = body["sampling_params"]
        first = p[0] if isinstance(p, list) else p
        most = max(q.get("max_new_tokens", 128) for q in (p if isinstance(p, list) else [p]))
        asked = ask("sglang", prompts[0], len(prompts) * first.get("n", 1), most, first)
        asked["rids"] = body["rid"] if isinstance(body.get("rid"), list) else []
        if first.get("ignore_eos"):
            asked["stop"] = []  # SGLang then ignores stop ids too
        return asked
    if path == "/completion":
        prompts = body["prompt"] if isinstance(body["prompt"][0], list) else [body["prompt"]]
        n = body.get("n_cmpl", 1) * len(prompts)
        most = CONTEXT if body.get("n_predict", -1) < 0 else body["n_predict"]
        return ask("llamacpp", prompts[0], n, most, body)
    if path == "/api/v1/retrieve_future":
        return ask("tinker", None, None, CONTEXT, {})
    return None


def ask(wire, prompt, samples, most, params):
    stop = [] if params.get("ignore_eos") else sorted({2, *params.get("stop_token_ids", [])})
    return {"wire": wire, "prompt": prompt, "samples": samples, "max": most, "stop": stop}


def read(asked, body):
    wire = asked["wire"]
    if wire == "tinker":
        sequences = body["sequences"]
        asked["samples"] = len(sequences)
        asked["prompt"] = [1]
        if any(s["stop_reason"] == "stop" for s in sequences):
            asked["stop"] = [sequences[0]["tokens"][-1]]
        else:
            asked["stop"] = []
        return [judge(asked, s["tokens"], s["logprobs"], None, s["stop_reason"], None, None, {}) for s in sequences]
    if wire.startswith("vllm"):
        return [vllm(asked, body, c) for c in sorted(body["choices"], key=lambda c: c["index"])]
    items = body if isinstance(body, list) else [body]
    return [(sglang if wire == "sglang" else llama)(asked, item) for item in items]


def vllm(asked, body, choice):
    ids, lps = choice["token_ids"], choice["logprobs"]
    if ids is None or lps is None:
        return "incomplete"
    if asked["wire"] == "vllm-generate":
        logprobs = [e["logprob"] for e in lps["content"]]
        # in text mode an entry has no id that could be compared
        entries = [e.get("token_id", "none") for e in lps["content"]]
        text = None
    else:
        logprobs, text = lps["token_logprobs"], choice["text"]
        named = all(t.startswith("token_id:") for t in lps["tokens"])
        entries = [int(t[9:]) for t in lps["tokens"]] if named else None
    echo = {"length": body["usage"]["prompt_tokens"], "ids": body.get("prompt_token_ids") or choice.get("prompt_token_ids")}
    finish = {"stop": "stop", "length": "length", "abort": "aborted"}[choice["finish_reason"]]
    return judge(asked, ids, logprobs, entries, finish, choice.get("weight_versions"), text, echo)


def sglang(asked, item):
    meta = item["meta_info"]
    if "output_token_logprobs" not in meta:
        return "incomplete"
    logprobs = [e[0] for e in meta["output_token_logprobs"]]
    entries = [e[1] for e in meta["output_token_logprobs"]]
    finish = {"stop": "stop", "length": "length", "abort": "aborted"}[meta["finish_reason"]["type"]]
    echo = {"length": meta["prompt_tokens"], "ids": item.get("prompt_token_ids")}
    return judge(asked, item["output_ids"], logprobs, entries, finish, meta.get("weight_versions"), item["text"], echo)


def llama(asked, item):
    if "completion_probabilities" not in item:
        return "incomplete"
    entries = [e["id"] for e in item["completion_probabilities"]]
    logprobs = [e.get("logprob") for e in item["completion_probabilities"]]
    finish = {"eos": "stop", "word": "stop", "limit": "length"}[item["stop_type"]]
    echo = {"length": item["tokens_evaluated"], "ids": None}
    return judge(asked, item["tokens"], logprobs, entries, finish, None, item["content"], echo)


def judge(asked, ids, logprobs, entries, finish, spans, text, echo):
    """A failure's cause, or the sequence."""
    prompt = asked["prompt"]
    if echo.get("length") is not None and echo["length"] != len(prompt):
        return "invalid_tokens"
    if echo.get("ids") is not None and echo["ids"] != prompt:
        return "invalid_tokens"
    if any(not isinstance(i, int) or not 0 <= i < asked["vocab"] for i in ids):
        return "invalid_tokens"
    if len(logprobs) != len(ids) or (entries is not None and entries != ids):
        return "invalid_logprobs"
    if any(not isinstance(p, (int, float)) or not -9999 < p <= 1e-4 for p in logprobs):
        return "invalid_logprobs"
    if len(ids) > asked["max"]:
        return "invalid_tokens"
    if ids and ids[-1] in asked["stop"]:
        finish = "stop"
    versions = [[s["version"], s["start"], s["end"]] for s in spans or [] if s["end"] > s["start"]]
    return {
        "n": len(ids),
        "finish": finish,
        "ids": digest("i", ids),
        "logprobs": digest("f", logprobs),
        "versions": versions,
        "text": text,
    }


def digest(kind, values):
    """SHA-256 of the little-endian 32-bit words."""
    return hashlib.sha256(struct.pack(f"<{len(values)}{kind}", *values)).hexdigest()[:16]


if __name__ == "__main__":
    main()
