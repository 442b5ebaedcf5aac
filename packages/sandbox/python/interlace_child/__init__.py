"""The Python side of the sandbox: standard library only, Python 3.11 or later."""
