"""What a handler wants changed: a merge patch to fill in, and functions that change the object.

A function is called with a copy of the newest object and changes it; what it changed is sent as a
JSON patch that holds for that version alone, and it is called again if another came before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from quintant.kopf.values.fields import FieldPath, copied, ensure, remove, resolve

PatchFn = Callable[[dict[str, Any]], None]


class PatchView(MutableMapping[str, Any]):
    """A part of a patch; it is made when something is put there."""

    __slots__ = ("_patch", "_path")

    def __init__(self, patch: MutableMapping[str, Any], path: FieldPath) -> None:
        self._patch, self._path = patch, path

    def _content(self) -> Any:
        return resolve(self._patch, self._path, {})

    def __getitem__(self, key: str) -> Any:
        return self._content()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        ensure(self._patch, (*self._path, key), value)

    def __delitem__(self, key: str) -> None:
        del self._content()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._content())

    def __len__(self) -> int:
        return len(self._content())

    def __repr__(self) -> str:
        return repr(dict(self._content()))


class MetaPatch(PatchView):
    """The part of a patch about `metadata`."""

    @property
    def labels(self) -> PatchView:
        return PatchView(self._patch, ("metadata", "labels"))

    @property
    def annotations(self) -> PatchView:
        return PatchView(self._patch, ("metadata", "annotations"))


class Patch(dict[str, Any]):
    """A merge patch, and functions."""

    def __init__(
        self,
        src: Mapping[str, Any] | None = None,
        /,
        body: Mapping[str, Any] | None = None,
        fns: Iterable[PatchFn] = (),
    ) -> None:
        super().__init__(src or {})
        self.original = body
        self.fns: list[PatchFn] = [*(src.fns if isinstance(src, Patch) else ()), *fns]

    @property
    def metadata(self) -> MetaPatch:
        return MetaPatch(self, ("metadata",))

    @property
    def meta(self) -> MetaPatch:
        return self.metadata

    @property
    def spec(self) -> PatchView:
        return PatchView(self, ("spec",))

    @property
    def status(self) -> PatchView:
        return PatchView(self, ("status",))

    def __bool__(self) -> bool:
        return len(self) > 0 or bool(self.fns)

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.fns.clear()

    def applied(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """An object as it is with this patch."""
        changed = copied(dict(body))
        _merge(changed, (), self)
        for change in self.fns:
            change(changed)
        return changed


def _merge(target: dict[str, Any], path: FieldPath, value: Any) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _merge(target, (*path, key), inner)
    elif value is None:
        remove(target, path)
    else:
        ensure(target, path, value)
