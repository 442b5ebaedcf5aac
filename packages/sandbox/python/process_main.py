"""One call of the `process` and `bubblewrap` backends: takes its limits, then becomes the program.

Arguments: the file that holds the code (deleted once read, where that is allowed), limits as
`name=value`, `auto_print=0|1`, `filter_calls=0|1` (needs NO_NEW_PRIVS) and, after `--`, the folders of
installed packages. What this does not contain, whoever starts it must.
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
    filter_calls = bool(values.pop("filter_calls", 0))
    with open(path, "rb") as file:
        source = file.read()
    try:
        os.unlink(path)
    except OSError:
        pass  # read-only, inside a jail
    os.environ.pop("PWD", None)  # bwrap sets it
    limits.lower(values)
    if filter_calls:
        from interlace_child import seccomp

        seccomp.install(seccomp.build(seccomp.REFUSED, seccomp.IGNORED))
    return program.run_program(source, auto_print)


os._exit(main(sys.argv[1:]))
