"""How many functions are called: what code costs, by a measure that no busy machine changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any


class CallCounter:
    """Counts calls, in Python or not, that are not made below the functions of files apart."""

    def __init__(self, apart: Sequence[str] = ()) -> None:
        self.calls = 0
        self._prefixes = tuple(apart)
        self._below: FrameType | None = None
        self._apart: dict[str, bool] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if self._below is not None:
            if event == "return" and frame is self._below:
                self._below = None
        elif event == "call" and self._is_apart(frame.f_code.co_filename):
            self._below = frame
        elif event in ("call", "c_call"):
            self.calls += 1

    def _is_apart(self, file: str) -> bool:
        if file not in self._apart:
            self._apart[file] = file.startswith(self._prefixes)
        return self._apart[file]


@contextmanager
def counted_calls(apart: Sequence[str] = ()) -> Iterator[CallCounter]:
    """Count the calls of this thread while the context lasts.

    Paths in `apart` are prefixes: what their functions call, and whatever that calls, is left out.
    """
    counter, before = CallCounter(apart), sys.getprofile()
    sys.setprofile(counter)
    try:
        yield counter
    finally:
        sys.setprofile(before)
