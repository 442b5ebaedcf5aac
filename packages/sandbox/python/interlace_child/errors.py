"""Prints an uncaught exception as the interpreter does, without the frames of the sandbox."""

import io
import linecache
import re
import sys
import traceback
from types import TracebackType

from . import hooks, program


def print_error(value: BaseException, trace: TracebackType | None) -> None:
    if sys.stderr is None:
        return
    value.__traceback__ = trace = _own_frames(trace)
    if _is_deep(trace):
        hooks.plain_hook(type(value), value, trace)
        return
    _add_text(value)
    shown = traceback.TracebackException(type(value), value, trace, compact=True)
    if sys.version_info < (3, 12):
        _add_suggestions(shown, value)
    shown.print(file=sys.stderr)


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(program.OUR_FILES):
        trace = trace.tb_next
    return trace


def _is_deep(trace: TracebackType | None) -> bool:
    """A million frames as objects would take minutes and gigabytes: then without source lines."""
    depth = 0
    while trace is not None and depth < 20_000:
        depth, trace = depth + 1, trace.tb_next
    return trace is not None


def _add_text(value: BaseException) -> None:
    """The compiler looks for the line of its later errors in a file; here is none."""
    if isinstance(value, SyntaxError) and value.filename == program.FILE_NAME and not value.text:
        value.text = linecache.getline(program.FILE_NAME, value.lineno or 0) or None


def _add_suggestions(shown: traceback.TracebackException, value: BaseException) -> None:
    """Before 3.12 only the C code knows "Did you mean": it is asked, and its answer added."""
    if not isinstance(value, (NameError, AttributeError)):
        return
    stream, sys.stderr = sys.stderr, io.StringIO()
    causes = value.__cause__, value.__context__, value.__suppress_context__
    try:
        value.__cause__ = value.__context__ = None
        hooks.plain_hook(type(value), value, value.__traceback__)
        said = re.search(r"\. Did you mean: '[^'\n]*'\?$", sys.stderr.getvalue().rstrip("\n"))
    finally:
        sys.stderr = stream
        value.__cause__, value.__context__, value.__suppress_context__ = causes
    if said is not None and not str(shown).endswith(said[0]):
        setattr(shown, "_str", str(shown) + said[0])
