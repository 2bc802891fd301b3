"""What is known of objects that other members hold: that they are there, and who controls them.

Nothing else stays of them. So their absence is never mistaken for one of the cluster's, and no
child of somebody else's is taken, though nobody here has seen what is in it. A name costs its
letters, its place in a dict and sixteen bytes: a member may know of ten times what it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from quintant.core.object import Request

UID_LENGTH = 36


class ForeignObjects:
    """The names of a kind's objects that are not held here, each with its controller's uid."""

    def __init__(self) -> None:
        self.by_namespace: dict[str, dict[str, str | bytes]] = {}

    def __contains__(self, key: Request) -> bool:
        names = self.by_namespace.get(key.namespace)
        return names is not None and key.name in names

    def __len__(self) -> int:
        return sum(map(len, self.by_namespace.values()))

    def __bool__(self) -> bool:
        return bool(self.by_namespace)

    def __iter__(self) -> Iterator[Request]:
        for namespace, names in self.by_namespace.items():
            for name in names:
                yield Request(name, namespace)

    def has_any(self, namespace: str) -> bool:
        """Whether there is one in a namespace; in any, if it is empty."""
        return bool(self.by_namespace) if not namespace else namespace in self.by_namespace

    def note(self, key: Request, controller: str) -> None:
        """An object is there, with this controller; an empty uid is none."""
        names = self.by_namespace.get(key.namespace)
        if names is None:
            names = self.by_namespace[key.namespace] = {}
        names[key.name] = _packed(controller) if controller else ""

    def discard(self, key: Request) -> None:
        """An object is held here, or gone."""
        names = self.by_namespace.get(key.namespace)
        if names is not None and names.pop(key.name, None) is not None and not names:
            del self.by_namespace[key.namespace]

    def replace(self, namespace: str, state: Mapping[Request, str]) -> None:
        """These are all there are in a namespace; in all of them, if it is empty."""
        if namespace:
            self.by_namespace.pop(namespace, None)
        else:
            self.by_namespace.clear()
        for key, controller in state.items():
            self.note(key, controller)

    def is_controlled_by(self, key: Request, uid: str) -> bool:
        """Whether an object that is known has this controller."""
        return self.by_namespace[key.namespace][key.name] == _packed(uid)


def _packed(uid: str) -> str | bytes:
    """A uid in sixteen bytes, where it is one; every object of a member has its own."""
    if len(uid) == UID_LENGTH and uid[8::5][:4] == "----":
        digits = uid.replace("-", "")
        with suppress(ValueError):
            packed = bytes.fromhex(digits)
            if packed.hex() == digits:
                return packed
    return uid
