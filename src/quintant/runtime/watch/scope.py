"""What is followed: a kind, in one namespace or in all, selected by labels and fields.

The server selects; `selects` says the same of an object that we have just written ourselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from msgspec import Struct, field

from quintant.core.object import K
from quintant.core.resource import resource_of


class WatchScope(Struct, Generic[K], frozen=True):
    """A kind, in one namespace or (empty) in all, selected on the server.

    A label with an empty value selects the objects that have it, whatever its value there.
    """

    kind: type[K]
    namespace: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def query(self) -> dict[str, str]:
        """The selectors, as the API spells them."""
        selectors = {
            "labelSelector": ",".join(
                f"{name}={value}" if value else name for name, value in sorted(self.labels.items())
            ),
            "fieldSelector": ",".join(
                f"{name}={value}" for name, value in sorted(self.fields.items())
            ),
        }
        return {name: text for name, text in selectors.items() if text}

    def __str__(self) -> str:
        suffix = f" in {self.namespace}" if self.namespace else ""
        return f"{resource_of(self.kind).full_name}{suffix}"


def selects(wanted: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Whether an object with these labels is among those selected."""
    return not wanted or all(
        labels.get(name) == value if value else name in labels for name, value in wanted.items()
    )
