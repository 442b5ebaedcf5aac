"""Judges pairs of answers with Math-Verify: one JSON object a line in, one a line out.

In:  {"id": 1, "reference": "1/2", "prediction": "0.5", "limit": 10.0}
Out: {"id": 1, "kind": "equal" | "different"} or {"id": 1, "kind": "unscored", "detail": "..."}

Runs the library in the main thread with its own time limits off: they say "false" without a word when a
busy machine lets their clock run out. Whoever started this process holds the clock and kills it.
"""

import json
import logging
import os
import signal
import sys

# Behind the starter's own clock, in seconds: ends a worker whose starter died while it was thinking.
ORPHAN_MARGIN = 5.0


class ErrorWatch(logging.Handler):
    """Keeps the errors that the library logs and answers with "false"."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.seen = []

    def emit(self, record):
        if record.exc_info and record.exc_info[0] is not None:
            self.seen.append(record.exc_info[0].__name__)

    def take(self):
        seen, self.seen = self.seen, []
        return seen


def open_protocol():
    """The real stdout carries answers only; whatever a library prints goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii", newline="\n")
    os.dup2(2, 1)
    return out


def prefer_as_victim():
    """Should memory run out, the kernel ends a worker rather than the rollout."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass


def main():
    out = open_protocol()
    prefer_as_victim()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)

    from math_verify import parse, verify

    watch = ErrorWatch()
    logger = logging.getLogger("math_verify")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(watch)

    def read(text):
        return parse(f"${text}$", parsing_timeout=None)

    def judge(reference, prediction):
        expected = read(reference)
        unreadable = watch.take()
        if unreadable:
            return {"kind": "unscored", "detail": f"reference unreadable: {unreadable[-1]}"}
        # An answer that cannot be read is a wrong one, as the library has it.
        given = read(prediction)
        watch.take()
        if verify(expected, given, timeout_seconds=None):
            return {"kind": "equal"}
        failed = watch.take()
        if failed:
            return {"kind": "unscored", "detail": f"comparison failed: {failed[-1]}"}
        return {"kind": "different"}

    def answer(message):
        out.write(json.dumps(message) + "\n")
        out.flush()

    # The first verdict builds the library's parsers and tables; it belongs to the start.
    judge("1", "\\frac{2}{2}")
    watch.take()
    answer({"ready": True})

    for line in sys.stdin.buffer:
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, request["limit"] + ORPHAN_MARGIN)
        try:
            verdict = judge(request["reference"], request["prediction"])
        except Exception as error:
            verdict = {"kind": "unscored", "detail": f"{type(error).__name__}: {error}"[:500]}
        signal.setitimer(signal.ITIMER_REAL, 0)
        watch.take()
        answer({"id": request["id"], **verdict})


if __name__ == "__main__":
    main()
