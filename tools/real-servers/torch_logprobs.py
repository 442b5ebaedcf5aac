"""Logprobs of sampled tokens by a float32 forward pass of PyTorch (transformers' Llama): the oracle for real servers.

python torch_logprobs.py POLICY_FOLDER < in.jsonl > out.jsonl
In, a line each: {"prompt": [...], "ids": [...], "temperature": 1, "top_p": 1, "kind": "raw" | "temperature_scaled" | "processed"}.
Out, a line each: the logprobs of `ids`.
"""
import json
import sys

import torch
from transformers import AutoModelForCausalLM

torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()


@torch.no_grad()
def logprobs(line):
    ids = line["prompt"] + line["ids"]
    start = len(line["prompt"]) - 1
    logits = model(torch.tensor([ids])).logits[0, start:-1]
    if line["kind"] != "raw" and line["temperature"] > 0:
        logits = logits / line["temperature"]
    if line["kind"] == "processed":
        logits = keep(logits, line["top_p"])
    rows = torch.log_softmax(logits.double(), -1)
    return rows[torch.arange(len(line["ids"])), torch.tensor(line["ids"])].tolist()


def keep(logits, top_p):
    """-inf for what top_p cuts: the smallest set of likely ids whose mass reaches it stays."""
    if top_p >= 1:
        return logits
    order = logits.argsort(-1, descending=True)
    mass = torch.softmax(logits.gather(-1, order), -1)
    cut = mass.cumsum(-1) - mass >= top_p
    return logits.masked_fill(cut.gather(-1, order.argsort(-1)), float("-inf"))


for text in sys.stdin:
    print(json.dumps(logprobs(json.loads(text))), flush=True)
