"""Which object a request is about, and where it is at the API server."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote


class ObjectPath(NamedTuple):
    """An object by its kind and its names."""

    api_version: str
    """`v1`, or `demo.dev/v1`."""
    kind: str
    plural: str
    name: str
    namespace: str = ""
    """Empty for kinds without one."""

    @property
    def collection(self) -> str:
        """The path of all objects of the kind, in the namespace if there is one."""
        root = "/apis" if "/" in self.api_version else "/api"
        prefix = f"/namespaces/{_part(self.namespace)}" if self.namespace else ""
        version = "/".join(map(_part, self.api_version.split("/")))
        return f"{root}/{version}{prefix}/{_part(self.plural)}"

    def target(self, sub: str = "") -> str:
        """The path of the object, or of a subresource of it."""
        end = f"/{_part(sub)}" if sub else ""
        return f"{self.collection}/{_part(self.name)}{end}"

    def __str__(self) -> str:
        prefix = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {prefix}{self.name}"


def _part(text: str) -> str:
    if text in ("", ".", ".."):
        raise ValueError(f"cannot ask for an object: {text!r} is no name")
    return quote(text, safe="")
