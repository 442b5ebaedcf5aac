"""The policy in the box as an F32 GGUF for llama-server: same weights, same ids.

python make_gguf.py POLICY_FOLDER OUT.gguf      (needs gguf, numpy, safetensors)
"""
import json
import sys
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import load_file

PARTS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def main(folder, out):
    config = json.loads((folder / "config.json").read_text())
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    writer = gguf.GGUFWriter(out, "llama")
    write_shape(writer, config)
    write_tokenizer(writer, config, tokenizer)
    for name, tensor in load_file(folder / "model.safetensors").items():
        writer.add_tensor(gguf_name(name), place(name, tensor.astype(np.float32), config))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_shape(writer, config):
    writer.add_name("interlace-embedded")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def write_tokenizer(writer, config, tokenizer):
    entries = {id: text for text, id in tokenizer["model"]["vocab"].items()}
    kinds = {id: gguf.TokenType.NORMAL for id in entries}
    for token in tokenizer["added_tokens"]:
        entries[token["id"]] = token["content"]
        special = token["special"]
        kinds[token["id"]] = gguf.TokenType.CONTROL if special else gguf.TokenType.USER_DEFINED
    ids = range(config["vocab_size"])
    writer.add_tokenizer_model("gpt2")
    # one digit per token, as this tokenizer splits
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list([entries.get(id, f"[PAD{id}]") for id in ids])
    writer.add_token_types([kinds.get(id, gguf.TokenType.UNUSED) for id in ids])
    writer.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in tokenizer["model"]["merges"]])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(False)


def gguf_name(name):
    if name == "model.embed_tokens.weight":
        return "token_embd.weight"
    if name == "lm_head.weight":
        return "output.weight"
    if name == "model.norm.weight":
        return "output_norm.weight"
    _, _, layer, rest = name.split(".", 3)
    part, kind = rest.rsplit(".", 1)
    return f"blk.{layer}.{PARTS[part]}.{kind}"


def place(name, tensor, config):
    """llama.cpp turns neighbouring pairs by RoPE where Hugging Face turns halves: q and k rows move."""
    if not ("q_proj" in name or "k_proj" in name):
        return tensor
    heads = config["num_attention_heads" if "q_proj" in name else "num_key_value_heads"]
    half = tensor.shape[0] // heads // 2
    return np.ascontiguousarray(tensor.reshape(heads, 2, half, -1).swapaxes(1, 2).reshape(tensor.shape))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
