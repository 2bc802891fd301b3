"""Logs of a run: kept for its story and for the search for secrets, and off the screen.

They are kept as they are, and written out only if somebody wants to read them: a run takes
milliseconds, and most are never looked at.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import structlog

from quintant.runtime.observe.logs import redact

Line = MutableMapping[str, Any]


class LogCapture:
    """What was logged in a run."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Line]] = []

    def __call__(self, logger: Any, method: str, event: Line) -> Line:
        """Keep a line; structlog calls it as the last of its processors."""
        self.lines.append((method, event))
        raise structlog.DropEvent

    def last_failure(self) -> str:
        """Why the last reconcile that failed did so; empty if none did."""
        return next((str(event["why"]) for _, event in reversed(self.lines) if "why" in event), "")

    def texts(self) -> Iterator[str]:
        """The lines as they would have been written."""
        for method, event in self.lines:
            shown = redact(dict(event))
            error = shown.pop("exc_info", None)
            values = " ".join(f"{key}={value}" for key, value in shown.items() if key != "event")
            suffix = f" {error!r}" if isinstance(error, BaseException) else ""
            yield f"{method}: {shown.get('event', '')} {values}{suffix}".rstrip()


@contextmanager
def captured_logs(least: int = logging.INFO) -> Iterator[LogCapture]:
    """Keep what is logged within the context, from a level up, instead of writing it."""
    capture, configured, before = LogCapture(), structlog.is_configured(), structlog.get_config()
    structlog.configure(
        processors=[capture],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        cache_logger_on_first_use=False,
    )
    try:
        yield capture
    finally:
        structlog.reset_defaults()
        if configured:
            structlog.configure(**before)
