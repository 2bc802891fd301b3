"""Which TunnelClass is in force: the one that is named, or the default. Pure.

Of several defaults the newest wins, and of equally old ones the first by name, as Kubernetes does
it with storage classes: every restart chooses the same, and nobody's annotations are changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.operators.portal.api import DEFAULT_CLASS, PortalExpose, TunnelClass

CLASS_INDEX = "class"
"""The index of PortalExposes by the class they name; those that name none are under ""."""


def class_values(expose: PortalExpose) -> list[str]:
    """Where the index files a PortalExpose."""
    return [expose.spec.tunnel_class_name]


def affected(tunnel_class: TunnelClass) -> list[str]:
    """Where the index has those whom a change of a class may concern.

    Whether it is, was or shall be the default is not asked: one that is not is quickly seen.
    """
    return [tunnel_class.metadata.name, ""]


def defaults(classes: Iterable[TunnelClass]) -> list[TunnelClass]:
    """The classes that want to be the default, the one in force first."""
    wanting = sorted(
        (each for each in classes if each.default), key=lambda each: each.metadata.name
    )
    return sorted(wanting, key=lambda each: each.metadata.creation_timestamp or "", reverse=True)


def resolve(expose: PortalExpose, classes: Sequence[TunnelClass]) -> TunnelClass | None:
    """The class of a PortalExpose, if there is one."""
    name = expose.spec.tunnel_class_name
    if name:
        return next((each for each in classes if each.metadata.name == name), None)
    return next(iter(defaults(classes)), None)


def missing(expose: PortalExpose) -> tuple[str, str]:
    """Reason and message when there is no class."""
    name = expose.spec.tunnel_class_name
    if name:
        return "TunnelClassNotFound", f"Referenced TunnelClass '{name}' not found"
    return (
        "NoDefaultTunnelClass",
        "No TunnelClass is named and none is the default: annotate one with "
        f'{DEFAULT_CLASS}="true"',
    )


def references(exposes: Iterable[PortalExpose], classes: Sequence[TunnelClass]) -> dict[str, int]:
    """How many PortalExposes each class is in force for."""
    counts = {each.metadata.name: 0 for each in classes}
    for expose in exposes:
        if (found := resolve(expose, classes)) is not None:
            counts[found.metadata.name] += 1
    return counts
