"""Notices when a reconciler changes what a cache holds.

Cached objects are shared by all code of the process, and frozen; but a dict inside one, its labels
for instance, can be written to. Type checkers forbid that (the fields are Mappings); for code that
is not checked, tests compare each object with what the watch delivered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from quintant.core import codec
from quintant.core.object import Request
from quintant.runtime.cache.informer import Informer, ObjectChange


class CacheMutationDetector:
    """What the caches of a manager were given, to be compared with what they hold."""

    def __init__(self, caches: Iterable[Informer[Any]]) -> None:
        """Follow caches that are not running yet."""
        self._given = [_Given(informer) for informer in caches]

    def check(self) -> None:
        """AssertionError if an object is not as the watch delivered it."""
        for given in self._given:
            given.check()


class _Given:
    def __init__(self, informer: Informer[Any]) -> None:
        self._informer = informer
        self._digests: dict[Request, tuple[str, int]] = {}
        informer.subscribe(self._note)

    def check(self) -> None:
        for obj in self._informer.store:
            version, digest = self._digests.get(obj.key, ("", 0))
            # What we wrote ourselves is in the store before it was delivered.
            if version == obj.metadata.resource_version and digest != _digest(obj):
                raise AssertionError(
                    f"{self._informer.resource.kind} {obj.key} was changed inside the cache; "
                    "objects are shared: make another one with replace()"
                )

    def _note(self, change: ObjectChange[Any]) -> None:
        if change.new is not None:
            new = change.new
            self._digests[new.key] = (new.metadata.resource_version, _digest(new))
        elif change.old is not None:
            self._digests.pop(change.old.key, None)


def _digest(obj: Any) -> int:
    return hash(codec.encode(obj))
