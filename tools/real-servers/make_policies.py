"""What the real servers load: the policy in the box, and a second set of weights of the same shape.

python make_policies.py POLICY_FOLDER OUT_FOLDER      (needs numpy, safetensors)

Writes OUT/first and OUT/other as the servers load them, OUT/other-tied as our own engine reads the second set.
Three things differ from the policy's own files, none changes what the model computes:
* the weights are written as float32, the precision that all servers then compute in;
* the output head is written out. vLLM 0.32 on CPU keeps the old head of a model with tied embeddings when weights are
  reloaded while it runs, and then answers with logprobs of neither model;
* the end-of-text id is the padding id, so that only stop ids that a client names end a turn.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def main(folder, out):
    first = load_file(folder / "model.safetensors")
    random = np.random.default_rng(1)
    other = {name: move(tensor, random) for name, tensor in first.items()}
    write(folder, out / "first", untie(first), served)
    write(folder, out / "other", untie(other), served)
    write(folder, out / "other-tied", other, lambda name, text: text)


def move(tensor, random):
    """Each matrix a little, so that every logprob changes."""
    if tensor.ndim < 2:
        return tensor
    return (tensor + random.normal(0, tensor.std() * 0.05, tensor.shape)).astype(tensor.dtype)


def untie(tensors):
    wide = {name: tensor.astype(np.float32) for name, tensor in tensors.items()}
    return {**wide, HEAD: wide[EMBEDDING].copy()}


def served(name, text):
    content = json.loads(text)
    if name == "config.json":
        content |= {"tie_word_embeddings": False, "torch_dtype": "float32"}
        content["eos_token_id"] = content["pad_token_id"]
    if name == "tokenizer_config.json":
        content["eos_token"] = content["pad_token"]
    return json.dumps(content)


def write(folder, out, tensors, change):
    out.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / "tokenizer.json", out)
    for name in ("config.json", "tokenizer_config.json"):
        (out / name).write_text(change(name, (folder / name).read_text()))
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
