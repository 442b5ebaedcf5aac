"""The texts of a trajectory: prompt, call, observation. Equal to what the chat template renders (tested)."""

SYSTEM = "Use the tool. End with \\boxed{}."
END = "<|im_end|>"
SPECIAL = ["<|endoftext|>", "<|im_start|>", END]
MARKERS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

TOOL = {"type": "function", "function": {"name": "code_interpreter"}}

TEMPLATE = "\n".join(
    [
        "{%- if messages[0].role == 'system' %}{%- set sys = messages[0].content %}{%- set rest = messages[1:] %}"
        "{%- else %}{%- set sys = '' %}{%- set rest = messages %}{%- endif %}",
        "{%- if sys or tools %}{{- '<|im_start|>system\\n' + sys }}"
        "{%- if tools %}{%- for t in tools %}{{- '\\nTool: ' + t.function.name }}{%- endfor %}{%- endif %}"
        "{{- '<|im_end|>\\n' }}{%- endif %}",
        "{%- for m in rest %}",
        "{%- if m.role == 'tool' %}",
        "{%- if loop.first or rest[loop.index0 - 1].role != 'tool' %}{{- '<|im_start|>user' }}{%- endif %}",
        "{{- '\\n<tool_response>\\n' + m.content + '\\n</tool_response>' }}",
        "{%- if loop.last or rest[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>\\n' }}{%- endif %}",
        "{%- else %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endif %}",
        "{%- endfor %}",
        "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}",
    ]
)


def prompt(question: str) -> str:
    return (
        f"<|im_start|>system\n{SYSTEM}\nTool: code_interpreter<|im_end|>\n"
        f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )


def observation(content: str) -> str:
    """What follows a sampled `<|im_end|>`."""
    return (
        f"\n<|im_start|>user\n<tool_response>\n{content}\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )


def call(code: str) -> str:
    return (
        "<tool_call>\n<function=code_interpreter>\n<parameter=code>\n"
        f"{code}\n</parameter>\n</function>\n</tool_call>"
    )
