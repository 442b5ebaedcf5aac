"""Builds the byte-level BPE of 512 ids from synthetic trajectories. Merges see only what lies between added tokens."""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from behaviours import MIXTURE, write_turns
from problems import draw_problem
from protocol import END, MARKERS, SPECIAL, TEMPLATE, observation, prompt

VOCAB = 512
# The split of the Qwen2 family: digits one by one.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def whole_text(r: random.Random) -> str:
    problem = draw_problem(r)
    _, turns = write_turns(r, problem, MIXTURE)
    tail = (t.text + END if t.role == "assistant" else observation(t.text) for t in turns)
    return prompt(problem.question) + "".join(tail)


def build_tokenizer(trajectories: int, seed: int) -> Tokenizer:
    r = random.Random(seed)
    added = re.compile("|".join(re.escape(token) for token in SPECIAL + MARKERS))
    pieces = [p for _ in range(trajectories) for p in added.split(whole_text(r)) if p]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB - len(SPECIAL) - len(MARKERS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(pieces, trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in MARKERS])
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": SPECIAL[0],
        "model_max_length": 1024,
        "clean_up_tokenization_spaces": False,
        "add_bos_token": False,
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1))


if __name__ == "__main__":
    save_tokenizer(build_tokenizer(trajectories=6000, seed=1), Path(sys.argv[1]))
