"""pydantic takes no `typing.TypedDict` before Python 3.12, and SkyRL uses it."""
import typing

import typing_extensions

typing.TypedDict = typing_extensions.TypedDict
