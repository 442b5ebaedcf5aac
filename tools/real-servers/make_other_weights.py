"""A second set of weights beside the policy in the box: each matrix moved a little, so that every logprob changes.

python make_other_weights.py POLICY_FOLDER OUT_FOLDER      (needs numpy, safetensors)
"""
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file


def main(folder, out):
    out.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        if file.name != "model.safetensors":
            shutil.copy(file, out / file.name)
    random = np.random.default_rng(1)
    moved = {name: move(tensor, random) for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(moved, out / "model.safetensors", metadata={"format": "pt"})


def move(tensor, random):
    if tensor.ndim < 2:
        return tensor
    spread = tensor.std() * 0.05
    return (tensor + random.normal(0, spread, tensor.shape)).astype(tensor.dtype)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
