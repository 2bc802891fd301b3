"""APIGroupInfo: the catalog of kinds: what the server serves now, by group, version and name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.remote_version import RemoteVersion


class Catalog:
    """The kinds served now, by where they are found."""

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        self.derived: dict[str, Any] = {}
        """What others have worked out of the kinds; forgotten when those change."""
        self.remote: Mapping[tuple[str, str], RemoteVersion] = {}
        """What other servers serve, by group and version: it comes before what is served here."""
        self._groups: dict[str, dict[str, list[Kind]]] = {}
        self.add(kinds)

    def __iter__(self) -> Iterator[Kind]:
        return iter(tuple(self._kinds.values()))

    def add(self, kinds: Iterable[Kind]) -> None:
        """Serve these kinds from now on, in place of their namesakes."""
        self.derived.clear()
        for kind in kinds:
            resource = kind.resource
            self._kinds[resource.group, resource.version, resource.plural] = kind
        self._file()

    def remove(self, group: str, plural: str) -> None:
        """Serve a resource no longer, at any version."""
        self.derived.clear()
        self._kinds = {
            key: kind for key, kind in self._kinds.items() if (key[0], key[2]) != (group, plural)
        }
        self._file()

    def serve_remote(self, versions: Mapping[tuple[str, str], RemoteVersion]) -> None:
        """Have these versions, and no others, served by other servers from now on."""
        if versions != self.remote:
            self.derived.clear()
            self.remote = versions

    def has_group(self, group: str) -> bool:
        """Whether a group is served, here or elsewhere."""
        return group in self._groups or any(each == group for each, _ in self.remote)

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        """The kind found at a path."""
        return self._kinds.get((group, version, plural))

    def group(self, group: str) -> list[Kind]:
        """The kinds of a group."""
        return [kind for kinds in self._groups.get(group, {}).values() for kind in kinds]

    def version(self, group: str, version: str) -> list[Kind]:
        """The kinds of a group at a version."""
        return list(self._groups.get(group, {}).get(version, ()))

    def tables(self) -> list[Kind]:
        """One kind per table: every object of the cluster is found through them once."""
        return list({kind.table: kind for kind in reversed(self._kinds.values())}.values())

    def _file(self) -> None:
        """Have the kinds by group and version: a definition may have thousands of versions."""
        groups: dict[str, dict[str, list[Kind]]] = {}
        for kind in self._kinds.values():
            resource = kind.resource
            groups.setdefault(resource.group, {}).setdefault(resource.version, []).append(kind)
        # In one step, as a thread may be reading.
        self._groups = groups
