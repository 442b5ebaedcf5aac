"""Makes tracebacks of a program that lies in no file read as if it lay in one.

The interpreter's own C code prints no source lines for a name like `<sandbox>`; the `traceback`
module does, from `linecache`. So exceptions are printed through that module, and the program's
source is registered there – when `linecache` is first imported, since few programs fail.
"""

from __future__ import annotations

import io
import sys
import warnings  # once it is there, warnings show the source line too

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from threading import ExceptHookArgs
    from types import ModuleType, TracebackType

plain_hook = sys.excepthook


def install(file_name: str, source: bytes) -> None:
    sys.excepthook = sys.__excepthook__ = show_exception

    def register(linecache: ModuleType) -> None:
        linecache.cache[file_name] = (len(source), None, lines_of(source), file_name)

    def patch(threading: ModuleType) -> None:
        for name in ("excepthook", "__excepthook__"):
            setattr(threading, name, show_thread_exception)

    _after_import({"linecache": register, "threading": patch})


def lines_of(source: bytes) -> list[str]:
    text = source.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return io.StringIO(text if text.endswith("\n") else text + "\n", newline=None).readlines()


def show_exception(
    kind: type[BaseException], value: BaseException, trace: TracebackType | None
) -> None:
    try:
        from . import errors

        errors.print_error(value, trace)
    except BaseException:  # a program may have broken `traceback`, or `sys.modules` itself
        plain_hook(kind, value, trace)


def show_thread_exception(args: ExceptHookArgs) -> None:
    value = args.exc_value
    if value is None or isinstance(value, SystemExit) or sys.stderr is None:
        return
    name = getattr(args.thread, "name", None)
    print(f"Exception in thread {name}:", file=sys.stderr, flush=True)
    show_exception(args.exc_type, value, args.exc_traceback)


def _after_import(todo: dict[str, Callable[[ModuleType], None]]) -> None:
    for name in [name for name in todo if name in sys.modules]:
        todo.pop(name)(sys.modules[name])
    if todo:
        sys.meta_path.insert(0, _Finder(todo))


class _Finder:
    def __init__(self, todo: dict[str, Callable[[ModuleType], None]]) -> None:
        self.todo = todo

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.todo:
            return None
        action = self.todo.pop(name)
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                setattr(spec, "loader", _Loader(spec.loader, action))
                return spec
        return None


class _Loader:
    def __init__(self, loader: Loader, action: Callable[[ModuleType], None]) -> None:
        self.loader = loader
        self.action = action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        for owner, name in ((module.__spec__, "loader"), (module, "__loader__")):
            setattr(owner, name, self.loader)
        self.loader.exec_module(module)
        self.action(module)
