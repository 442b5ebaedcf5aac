"""One call of the `process` backend: takes its limits, then becomes the program.

Arguments: the file that holds the code (deleted once read), limits as `name=value`, `auto_print=0|1`
and, after `--`, the folders of installed packages. What this does not contain, the host must.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from interlace_child import limits, program  # noqa: E402


def main(arguments: list[str]) -> int:
    sys.path.pop(0)
    split = arguments.index("--")
    path, *settings = arguments[:split]
    sys.path += arguments[split + 1 :]
    values = {name: int(value) for name, _, value in (pair.partition("=") for pair in settings)}
    auto_print = bool(values.pop("auto_print"))
    with open(path, "rb") as file:
        source = file.read()
    os.unlink(path)
    limits.lower(values)
    return program.run_program(source, auto_print)


os._exit(main(sys.argv[1:]))
