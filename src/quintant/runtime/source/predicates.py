"""Predicates: which changes of an object are worth a reconcile.

A predicate sees an object before and after a change: `old` is None for a new object, `new` is None
for one that is gone. The ready-made ones combine with `|`, `&` and `~`:

    manager.controls(PortalExpose, when=when.generation | when.annotation("portal.gosuda.org/*"))

Those that ask for a change (generation, labels, annotation, resource_version) let creation and
removal through. Invariant: no `When` filters the change in which an object begins to be deleted,
or a finalizer might wait for ever.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from quintant.core.object import K, Object

K_contra = TypeVar("K_contra", bound=Object, contravariant=True)


class Predicate(Protocol[K_contra]):
    """Any function of (old, new) that says whether to reconcile."""

    def __call__(self, old: K_contra | None, new: K_contra | None, /) -> bool: ...


class When(Struct, Generic[K_contra], frozen=True):
    """A predicate that can be combined; wrap a function of your own to combine it."""

    test: Predicate[K_contra]

    def __call__(self, old: K_contra | None, new: K_contra | None, /) -> bool:
        return _starts_deleting(old, new) or self.test(old, new)

    def __or__(self: When[K], other: Predicate[K]) -> When[K]:
        return When(lambda old, new: self(old, new) or other(old, new))

    def __and__(self: When[K], other: Predicate[K]) -> When[K]:
        return When(lambda old, new: self(old, new) and other(old, new))

    # With these, checkers let a narrower kind, or a plain function, stand on either side.
    def __ror__(self: When[K], other: Predicate[K]) -> When[K]:
        return self | other

    def __rand__(self: When[K], other: Predicate[K]) -> When[K]:
        return self & other

    def __invert__(self) -> When[K_contra]:
        return When(lambda old, new: not self(old, new))


def changed(aspect: Callable[[K], object]) -> When[K]:
    """When something about the object differs from before."""
    return When(lambda old, new: old is None or new is None or aspect(old) != aspect(new))


def any(holds: Callable[[K], bool]) -> When[K]:
    """When `holds` is true of the object before or after: it is, becomes or was one of ours."""
    return When(lambda old, new: bool((old and holds(old)) or (new and holds(new))))


def all(holds: Callable[[K], bool]) -> When[K]:
    """When `holds` is true of the object before and after, as far as it exists."""
    return When(lambda old, new: (old is None or holds(old)) and (new is None or holds(new)))


def annotation(glob: str) -> When[Object]:
    """When an annotation whose key matches the shell pattern is set, changed or removed."""
    matches = re.compile(fnmatch.translate(glob)).match
    return changed(
        lambda obj: {key: value for key, value in obj.metadata.annotations.items() if matches(key)}
    )


created: When[Object] = When(lambda old, new: old is None)
"""When the object is new to us: created, or seen for the first time."""

deleted: When[Object] = When(lambda old, new: new is None)
"""When the object is gone."""

generation: When[Object] = changed(lambda obj: obj.metadata.generation)
"""When the spec changed; hides writes of status and metadata, and resyncs."""

labels: When[Object] = changed(lambda obj: obj.metadata.labels)
"""When a label changed."""

resource_version: When[Object] = changed(lambda obj: obj.metadata.resource_version)
"""When anything at all changed; hides resyncs."""


def _starts_deleting(old: Object | None, new: Object | None) -> bool:
    return new is not None and new.deleting and not (old is not None and old.deleting)
