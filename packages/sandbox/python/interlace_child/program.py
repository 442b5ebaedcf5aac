"""Runs one program the way `python3 file.py` would, inside an interpreter that is already up.

In: the bytes of a program. Out: an exit code, and what the program wrote to descriptors 1 and 2.
Refuses to know: limits, isolation, where the bytes came from. Imports as little as it can: the
`process` backend pays for every import on every call, so what only errors need comes with an error.
"""

from __future__ import annotations

import _ast
import _signal as signal  # type: ignore[import-not-found]  # `signal` costs an import of `enum`
import atexit
import builtins
import os
import sys

from . import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType, ModuleType

FILE_NAME = "<sandbox>"
OUR_FILES = os.path.dirname(__file__)
# Exit code of a program that died of "your time is up": 128 + SIGXCPU.
TIME_IS_UP = 152
# `compile` hands the flags of the `from __future__ import …` lines on by these bits of `co_flags`.
FUTURE_FLAGS = 0x1FE0000
# What `exec` itself counts for in the recursion limit, beside the frames that are seen.
EXEC_DEPTH = 1 if sys.version_info >= (3, 12) else 2


def run_program(source: bytes, auto_print: bool) -> int:
    """Runs to the end, exit functions included; the caller leaves by `os._exit` with the answer."""
    signal.signal(signal.SIGXCPU, _flush_and_die)
    if not source.endswith(b"\n"):
        source += b"\n"  # as reading it from a file does
    hooks.install(FILE_NAME, source)
    sys.argv = [FILE_NAME]
    sys.path.insert(0, os.getcwd())
    module = _fresh_main()
    return _wind_up(_run(source, auto_print, module.__dict__), module)


def _run(source: bytes, auto_print: bool, namespace: dict[str, object]) -> int:
    try:
        body, last = _compile(source, auto_print)
        # The program may recurse as deep as on its own, whatever lies below it.
        sys.setrecursionlimit(sys.getrecursionlimit() + _depth() + EXEC_DEPTH)
        _execute(body, last, namespace)
    except SystemExit as error:
        return _exit_code(error.code)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _compile(source: bytes, auto_print: bool) -> tuple[CodeType, CodeType | None]:
    """With `auto_print`, a last statement that is an expression comes apart, to be printed."""
    tree = _parse(source) if auto_print else None
    last = tree.body[-1] if tree is not None and tree.body else None
    if tree is None or not isinstance(last, _ast.Expr):
        return compile(source, FILE_NAME, "exec", dont_inherit=True), None
    tree.body.pop()
    body = compile(tree, FILE_NAME, "exec", dont_inherit=True)
    future = body.co_flags & FUTURE_FLAGS
    value = _ast.Expression(last.value)
    return body, compile(value, FILE_NAME, "eval", future, dont_inherit=True)


def _parse(source: bytes) -> _ast.Module | None:
    try:
        tree = compile(source, FILE_NAME, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        return tree if isinstance(tree, _ast.Module) else None
    except (RecursionError, MemoryError):
        return None  # nested too deep to become objects, which the compiler itself may survive


def _execute(body: CodeType, last: CodeType | None, namespace: dict[str, object]) -> None:
    exec(body, namespace)
    if last is not None:
        value = eval(last, namespace)
        if value is not None:
            print(value)


def _fresh_main() -> ModuleType:
    module = type(sys)("__main__")
    names = module.__dict__
    names.update(__builtins__=builtins, __file__=FILE_NAME, __cached__=None)
    if sys.version_info < (3, 14):
        names["__annotations__"] = {}
    sys.modules["__main__"] = module
    return module


def _depth() -> int:
    frame: FrameType | None = sys._getframe(1)
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(2**63) <= code < 2**63 else 0xFF
    if sys.stderr is not None:
        print(code, file=sys.stderr)
    return 1


def _wind_up(code: int, module: ModuleType) -> int:
    """What the interpreter does at its end, as far as a program can see it."""
    threading = sys.modules.get("threading")
    if threading is not None:
        try:
            threading._shutdown()
        except BaseException:
            pass
    atexit._run_exitfuncs()
    flushed = _flush()
    names = module.__dict__
    for name in list(names):
        if name != "__builtins__":
            names[name] = None  # `__del__` of what the program still holds
    return code if _flush() and flushed else code or 120


def _flush() -> bool:
    fine = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except BaseException:
            fine = False
    return fine


def _flush_and_die(_signal: int, _frame: FrameType | None) -> None:
    """What was printed before the time ran out is worth keeping."""
    try:
        _flush()
    finally:
        os._exit(TIME_IS_UP)
