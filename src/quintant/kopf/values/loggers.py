"""The logger that handlers get: the standard library's, with the object before each line."""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping
from functools import cached_property
from typing import Any

from quintant.kopf.values.body import object_reference

OBJECTS = "kopf.objects"
_objects = logging.getLogger(OBJECTS)
_TYPES = {logging.INFO: "Normal", logging.WARNING: "Warning", logging.ERROR: "Error"}


class ObjectLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger about one object."""

    def __init__(
        self, *, body: Mapping[str, Any], settings: Any = None, events: Any = None
    ) -> None:
        super().__init__(_objects, {})
        self._body, self._settings, self._events = body, settings, events

    @cached_property
    def reference(self) -> dict[str, Any]:
        """How events name the object."""
        return object_reference(self._body)

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        namespace, name = self.reference.get("namespace"), self.reference.get("name")
        return f"[{namespace}/{name}] {msg}" if namespace else f"[{name}] {msg}", kwargs

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        super().log(level, msg, *args, **kwargs)
        posting = getattr(self._settings, "posting", None)
        if self._events is None or posting is None or not (posting.enabled and posting.loggers):
            return
        if level >= posting.level:
            text = str(msg) % args if args else str(msg)
            kind = _TYPES.get(level, "Debug" if level < logging.INFO else "Fatal")
            self._events.post(self.reference, kind, "Logging", text)


class LocalObjectLogger(ObjectLogger):
    """The same, of which nothing becomes an event."""

    def __init__(self, *, body: Mapping[str, Any], settings: Any = None) -> None:
        super().__init__(body=body, settings=settings)
