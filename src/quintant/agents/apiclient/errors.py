"""What goes wrong between a program in a pod and the API server, in words for a log or a status."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

LINE_LENGTH = 256
"""Characters of what a server said: enough to know why."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class ApiRefused(Exception):
    """The server answered, and does not do what was asked."""

    def __init__(self, status: int, reason: str, message: str, *, retry_after: float = 0.0) -> None:
        super().__init__(f"{status} {reason}: {message}" if message else f"{status} {reason}")
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        """Seconds that the server wants to be left alone."""


class ApiUnreachable(Exception):
    """No answer came: the server was not reached, broke off, or speaks something else."""


def refused(status: int, body: bytes | Mapping[str, Any], retry_after: float = 0.0) -> ApiRefused:
    """What an answer that is no success, or an event that is an error, says."""
    document = _plain(body)
    reason, message = (str(document.get(name) or "") for name in ("reason", "message"))
    return ApiRefused(status, _line(reason) or "Refused", _line(message), retry_after=retry_after)


def missing_object(status: int, body: bytes, name: str) -> bool:
    """Whether an answer says that the object is not there, rather than that its kind is not."""
    details = _plain(body).get("details") if status == 404 else None
    return isinstance(details, Mapping) and details.get("name") == name


def _plain(body: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        return body
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {"message": body[:LINE_LENGTH].decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {}


def _line(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()[:LINE_LENGTH]
