"""Somebody else: a person or a program that changes a child or its parent at the worst moment.

A child is whatever has an owner; the one that a write is about comes first, then the one that was
written last. What is edited is a field that a manager under test has set: it alone has to be set
right again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from quintant.client.rest import MERGE
from quintant.client.transport import JSON, ApiRequest, ApiResponse, Transport
from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.storage.revision_log import Snapshot
from quintant.testing.explore.simulation.normalise import EDITED
from quintant.testing.explore.simulation.objects import (
    ObjectView,
    StoredMeta,
    StoredWorld,
    metadata,
)

SCRIPT, SOMEBODY = "test", "somebody-else"
OURS = frozenset((SCRIPT, SOMEBODY))
"""Field managers that are no managers under test: the script's, and that of this module."""
MOST_EDITS = 8
"""Fields that are tried until the server takes another value for one."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """An object that somebody has an eye on."""

    kind: Kind
    meta: StoredMeta
    document: Document

    @property
    def path(self) -> str:
        return self.kind.resource.path(self.meta.namespace, self.meta.name)

    @property
    def title(self) -> str:
        """Its table and key."""
        space = f"{self.meta.namespace}/" if self.meta.namespace else ""
        return f"{self.kind.table} {space}{self.meta.name}"

    def as_by_user(self) -> Target:
        """The object as a user would make it anew: without what managers have added."""
        meta = dict(self.document["metadata"])
        meta.pop("finalizers", None)
        for part in ("annotations", "labels"):
            kept = {k: v for k, v in meta.get(part, {}).items() if k in self._by_script(part)}
            meta[part] = kept
        return Target(self.kind, self.meta, {**self.document, "metadata": meta})

    def _by_script(self, part: str) -> set[str]:
        fields = (
            entry.get("fieldsV1", {}).get("f:metadata", {}).get(f"f:{part}", {})
            for entry in self.document["metadata"].get("managedFields", ())
            if entry.get("manager") == SCRIPT
        )
        return {key.removeprefix("f:") for each in fields for key in each}

    def __str__(self) -> str:
        return self.title


class SomebodyElse:
    """Acts as an admin, without asking anybody."""

    def __init__(
        self,
        server: StoredWorld,
        admin: Transport,
        base: Snapshot,
        is_concerned: Callable[[str], bool] = lambda title: True,
    ) -> None:
        """Of what is new since `base`, only objects whose titles are concerned are looked at."""
        self._server, self._admin, self._base = server, admin, base
        self._is_concerned = is_concerned

    def child(self, subject: str) -> Target | None:
        """The child that a write is about, or else the one that was written last."""
        children = [each for each in self._targets() if each.meta.owner_uids]
        return self._chosen(children, subject)

    def parent(self, subject: str) -> Target | None:
        """Whom the child belongs to, or what a write is about if nobody owns it."""
        targets = list(self._targets())
        child = self.child(subject)
        if child is not None:
            uids = child.meta.owner_uids
            return next((each for each in targets if each.meta.uid in uids), None)
        named = [each for each in targets if each.title == subject]
        return named[0] if named else None

    def whom_a_call_is_for(self) -> Target | None:
        """The owner of the child that was written last, or else what was written last."""
        return self.parent("") or next(self._targets(), None)

    def titled(self, title: str) -> Target | None:
        """The object of a table and key."""
        return next((each for each in self._targets() if each.title == title), None)

    async def edit_child(self, target: Target) -> str:
        """Give a field that a manager has set another value; which, or empty if none could be."""
        paths = list(_owned_leaves(target.document))[:MOST_EDITS]
        for path in paths:
            document = msgspec.json.decode(msgspec.json.encode(target.document))
            if (
                _put(document, path)
                and (await self._send("PUT", target.path, document)).status == 200
            ):
                return ".".join(map(str, path))
        return ""

    async def edit_parent(self, target: Target) -> None:
        """Annotate an object: another version of it, with another meaning for nobody."""
        change = {"metadata": {"annotations": {EDITED: "somebody"}}}
        await self._send("PATCH", target.path, change, MERGE)

    async def delete(self, target: Target) -> None:
        """Delete an object in the background."""
        options = {"preconditions": {"uid": target.meta.uid}, "propagationPolicy": "Background"}
        await self._send("DELETE", target.path, options)

    async def create(self, target: Target) -> str:
        """Make an object as it was, with another uid, unless it is there; its uid."""
        document = {key: value for key, value in target.document.items() if key != "status"}
        left_out = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation")
        meta = {k: v for k, v in document["metadata"].items() if k not in left_out}
        made = await self._send(
            "POST", target.kind.resource.path(target.meta.namespace), {**document, "metadata": meta}
        )
        if made.status != 201:
            return ""
        uid: str = msgspec.json.decode(made.body)["metadata"]["uid"]
        return uid

    def _targets(self) -> Iterator[Target]:
        """Everything that was made in this run and is not on its way out, written last first."""
        found = [
            (entry.rv, kind, entry)
            for kind, _, entry in ObjectView(self._server).since(self._base)
            if entry is not None
        ]
        for _, kind, entry in sorted(found, key=lambda each: -each[0]):
            meta = metadata(entry)
            target = Target(kind, meta, stored_json.unpack(kind, entry))
            if meta.deletion_timestamp is None and self._is_concerned(target.title):
                yield target

    def _chosen(self, children: Sequence[Target], subject: str) -> Target | None:
        named = [each for each in children if each.title == subject]
        return next(iter([*named, *children]), None)

    async def _send(
        self, method: str, path: str, body: Document, content: str = JSON
    ) -> ApiResponse:
        call = ApiRequest(
            method,
            path,
            {"fieldManager": SOMEBODY} if method != "DELETE" else {},
            {"content-type": content},
            msgspec.json.encode(body),
        )
        return await self._admin.request(call)


def _owned_leaves(document: Document) -> Iterator[tuple[str, ...]]:
    """The paths of fields outside metadata and status that a manager under test has set."""
    for entry in document["metadata"].get("managedFields", ()):
        if entry.get("manager") in OURS or entry.get("subresource"):
            continue
        for path in _leaves(entry.get("fieldsV1", {})):
            if path[0] not in ("metadata", "status"):
                yield path


def _leaves(fields: Document, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in sorted(fields.items()):
        if key.startswith("f:"):
            below = list(_leaves(inner, (*path, key[2:])))
            yield from below or [(*path, key[2:])]


def _put(document: Document, path: tuple[str, ...]) -> bool:
    """Change the text or number at a path in place; whether there was one."""
    value: Any = document
    for step in path[:-1]:
        value = value.get(step) if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return False
    match value.get(path[-1]):
        case bool():
            return False
        case int() as number:
            value[path[-1]] = number + 1
        case str() as text:
            value[path[-1]] = f"{text}-edited"
        case _:
            return False
    return True
