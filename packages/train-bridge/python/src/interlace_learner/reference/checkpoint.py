"""Two artefacts per save, each a folder that is complete or not there at all.

weights   what a sampler loads: `model.safetensors` in float32 (rounded weights would sample from another policy than
          the one that learns), `config.json`, and the tokenizer's files.
state     what a learner goes on from: the weights (of LoRA the adapter's alone), the optimizer's moments, `state.json`
          with the step, the learner's options, the random state, and the caller's cursor. Resuming continues bit for
          bit.

In: tensors and plain values. Refuses to know models and optimizers.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

WEIGHTS_FILE = "model.safetensors"
OPTIMIZER_FILE = "optimizer.safetensors"
STATE_FILE = "state.json"
STATE_VERSION = 1

TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "chat_template.jinja",
)


class CheckpointError(ValueError):
    """A folder is no checkpoint that this version can read, or could not be written."""


def read_config(folder: Path) -> dict[str, Any]:
    return _read_json(folder / "config.json")


def read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: expected a whole safetensors file: {error}") from error


def write_weights(folder: Path, tensors: dict[str, Tensor], source: Path) -> str:
    """`source`: folder that the policy came from; its config and tokenizer are copied. Returns the weight version."""
    with _whole_folder(folder) as partial:
        save_file(_plain(tensors), partial / WEIGHTS_FILE, metadata={"format": "pt"})
        config = {**read_config(source), "torch_dtype": "float32"}
        (partial / "config.json").write_text(json.dumps(config, indent=1) + "\n")
        _copy_tokenizer(source, partial)
        return weight_version(partial)


def write_model(folder: Path, write: Callable[[Path], None], source: Path) -> str:
    """As `write_weights`, for a model that writes its weights and its config itself."""
    with _whole_folder(folder) as partial:
        write(partial)
        _copy_tokenizer(source, partial)
        return weight_version(partial)


def _copy_tokenizer(source: Path, folder: Path) -> None:
    for name in TOKENIZER_FILES:
        if (source / name).exists():
            shutil.copyfile(source / name, folder / name)


def weight_version(folder: Path) -> str:
    """Names weights by their content, as the embedded sampler does: `sha256-` and 16 hex digits of the file's hash."""
    with (folder / WEIGHTS_FILE).open("rb") as file:
        return f"sha256-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"


def base_version(folder: Path) -> str:
    """Names the weights that an adapter stands on by their content, in one file or in several."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")) or sorted(folder.glob("*.bin")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"sha256-{digest.hexdigest()[:16]}"


def write_state(
    folder: Path, weights: dict[str, Tensor], optimizer: dict[str, Tensor], state: dict[str, Any]
) -> None:
    with _whole_folder(folder) as partial:
        save_file(_plain(weights), partial / WEIGHTS_FILE, metadata={"format": "pt"})
        save_file(_plain(optimizer), partial / OPTIMIZER_FILE)
        text = json.dumps({"version": STATE_VERSION, **state}, indent=1)
        (partial / STATE_FILE).write_text(text + "\n")


def read_state(folder: Path) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Any]]:
    state = _read_json(folder / STATE_FILE)
    if state.get("version") != STATE_VERSION:
        raise CheckpointError(
            f"{folder}: expected a state of version {STATE_VERSION}, got {state.get('version')}"
        )
    return read_tensors(folder / WEIGHTS_FILE), read_tensors(folder / OPTIMIZER_FILE), state


@contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """Fill the folder that is given; it gets its name when all of it is on the disk. An old one of that name goes."""
    parent = folder.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=parent))
    except OSError as error:
        raise CheckpointError(f"Could not write {folder}: {error.strerror}") from error
    try:
        yield partial
        partial.chmod(0o755)
        for path in partial.iterdir():
            _sync(path)
        _sync(partial)
        if folder.exists():
            # A folder cannot replace another in one step; a reader sees the old one, none, or the new one.
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=parent))
            os.replace(folder, old)
            os.replace(partial, folder)
            shutil.rmtree(old)
        else:
            os.replace(partial, folder)
        _sync(parent)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"Could not write {folder}: {error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _plain(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path}: expected a JSON file: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value
