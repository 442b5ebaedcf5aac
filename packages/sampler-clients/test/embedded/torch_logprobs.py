"""Oracle: logprobs of whole trajectories from transformers' LlamaForCausalLM, one full forward each.

In (stdin): {"folder": model folder, "trajectories": [[id, ...], ...], "temperature": T}. Out: {"float32": ..., "float64": ...},
each one list per trajectory: log softmax(logits / T) of token t given the tokens before it, for t = 1 .. n - 1.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

torch.set_num_threads(1)
asked = json.load(sys.stdin)
answers = {}
with torch.no_grad():
    for name in ("float32", "float64"):
        model = AutoModelForCausalLM.from_pretrained(asked["folder"], dtype=torch.float32).eval()
        model = model.to(getattr(torch, name))
        answers[name] = []
        for ids in asked["trajectories"]:
            row = torch.tensor([ids])
            logits = model(row).logits[0, :-1] / asked["temperature"]
            picked = torch.log_softmax(logits, dim=-1).gather(1, row[0, 1:, None])[:, 0]
            answers[name].append(picked.tolist())
json.dump(answers, sys.stdout)
