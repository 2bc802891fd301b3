"""WithRequestDeadline, WithMaxInFlightLimit: how long a request may take, and how many may wait.

A real server ends a request after a minute, or after the `timeout` in its query if that is less:
a duration as Go writes them, such as 1m30s. Watches and logs are not concerned. Both refusals here
come from before anything is known of media types, so they are plain text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping
from contextvars import ContextVar
from typing import Any, TypeVar

import msgspec

from quintant.cluster.apiserver.golang.printing import quoted
from quintant.cluster.apiserver.meta.status import StatusError, bad_request
from quintant.core.deadline import DeadlineExpired, bounded

LONGEST_SECONDS = 60.0
"""As on a real server, whatever a request asks for."""
T = TypeVar("T")
_due: ContextVar[float | None] = ContextVar("due", default=None)
_TEXT = {"content-type": "text/plain; charset=utf-8"}
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)"
_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_PART = re.compile(rf"({_NUMBER})({_UNIT})")
_DURATION = re.compile(rf"([-+]?)(?:0|(?:{_NUMBER}(?:{_UNIT}))+)")
_UNITLESS = re.compile(rf"[-+]?(?:{_NUMBER}(?:{_UNIT}))*{_NUMBER}")


class RequestTimeout(StatusError):
    """504: the request took too long; what it asked for may happen all the same."""

    def __init__(self) -> None:
        message = "Timeout: request did not complete within the allotted timeout"
        super().__init__(504, "Timeout", message, {})

    @property
    def headers(self) -> dict[str, str]:
        return _TEXT

    def encode(self) -> bytes:
        fields = {key: value for key, value in self.status.items() if key not in _UNSAID}
        return msgspec.json.encode(fields) + b"\n"


_UNSAID = ("kind", "apiVersion")


class TooManyInFlight(StatusError):
    """429: too many others wait; nothing of the request has happened."""

    def __init__(self) -> None:
        message = "Too many requests, please try again later."
        super().__init__(429, "TooManyRequests", message, {"retryAfterSeconds": 1})

    @property
    def headers(self) -> dict[str, str]:
        return {**super().headers, **_TEXT, "x-content-type-options": "nosniff"}

    def encode(self) -> bytes:
        return f"{self.message}\n".encode()


async def in_time(work: Coroutine[Any, Any, T], seconds: float) -> T:
    """What the work of a request returns; RequestTimeout if it takes longer."""
    token = _due.set(asyncio.get_running_loop().time() + seconds)
    try:
        return await bounded(work, seconds)
    except DeadlineExpired:
        raise RequestTimeout() from None
    finally:
        _due.reset(token)


def request_deadline() -> float:
    """When the request that is being answered has to be, by the loop's clock."""
    found = _due.get()
    return asyncio.get_running_loop().time() + LONGEST_SECONDS if found is None else found


def timeout_seconds(query: Mapping[str, str]) -> float:
    """How long a request may take; 400 for a timeout that is no duration."""
    text = query.get("timeout", "")
    if not text:
        return LONGEST_SECONDS
    found = _DURATION.fullmatch(text)
    if not found:
        why = "missing unit in duration" if _UNITLESS.fullmatch(text) else "invalid duration"
        message = f"time: {why} {quoted(text)}"
        raise bad_request(f"invalid timeout specified in the request URL - {message}")
    if found[1] == "-":
        return LONGEST_SECONDS
    requested = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    return min(requested or LONGEST_SECONDS, LONGEST_SECONDS)
