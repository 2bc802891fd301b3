"""Points of a program in real time, named by what they are.

    delete:apps/statefulsets:default/r-server#1      a write: verb, resource, object, which of them
    create:pods:default/r-<1>#1                      of a name that the server will make
    MODIFIED:apps/statefulsets:default/r-server#2    an event that a watch delivers

Elections, Events and reviews are no points: they go on beside the work.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from msgspec import Struct

from quintant.client.request_info import ResourcePath, verb_of
from quintant.client.transport import ApiRequest
from quintant.cluster.apiserver.codec.protobuf import MAGIC, unwrap
from quintant.testing.explore.foreign.generated_names import GeneratedNames
from quintant.testing.explore.injection.process import WatchedEvent
from quintant.testing.explore.injection.subjects import subject_of, table_of
from quintant.wire.foreign import MalformedInput, decode_json, decode_yaml
from quintant.wire.protobuf import bytes_in, members, text

EVENTS = frozenset(("events", "events.events.k8s.io"))
LEASES = "leases.coordination.k8s.io"
REVIEWS = frozenset(("authentication.k8s.io", "authorization.k8s.io"))
"""Groups whose objects are questions: nothing is stored."""
CONNECTIONS = frozenset(("exec", "attach", "portforward", "proxy"))
LEADER = "control-plane.alpha.kubernetes.io/leader"
"""The annotation by which programs elected before there were Leases."""
MOST_BODY = 8 * 1024 * 1024
"""Of a body that a name is read from; the server takes less."""
_METADATA, _NAME, _GENERATE_NAME = 1, 1, 2
"""Fields of protobuf: of every object its metadata, and of that the names."""


class WrittenNames(Struct, frozen=True):
    """What the body of a creation says about its name."""

    name: str = ""
    generate_name: str = ""


def is_election(call: ApiRequest, at: ResourcePath) -> bool:
    """Whether a write is about who leads."""
    return table_of(at) == LEASES or LEADER.encode() in (call.body or b"")


def is_point(call: ApiRequest, at: ResourcePath) -> bool:
    """Whether a write is part of what a program does."""
    if not at.plural or table_of(at) in EVENTS or at.group in REVIEWS or at.sub in CONNECTIONS:
        return False
    return not is_election(call, at) and "dryRun" not in call.query


class NamedPoints:
    """Names the points of one run as they come."""

    def __init__(self, names: GeneratedNames) -> None:
        self._names = names
        self._counts: Counter[str] = Counter()
        self._delivered: set[tuple[str, str, int]] = set()

    def written(self, call: ApiRequest, at: ResourcePath) -> ResourcePath:
        """What a write is about: the name of what is created is in its body."""
        if verb_of(call) != "create" or at.name:
            return at
        found = written_names(call.body or b"")
        name = found.name or found.generate_name
        return ResourcePath(at.group, at.version, at.namespace, at.plural, name, at.sub)

    def of_write(self, call: ApiRequest, at: ResourcePath) -> str:
        """The name of a write that comes now."""
        return self._numbered(self.kind_of_write(call, at))

    def kind_of_write(self, call: ApiRequest, at: ResourcePath) -> str:
        """The same without the number: what is done to what."""
        table, verb = table_of(at), verb_of(call)
        if verb == "create" and written_names(call.body or b"").name != at.name:
            name = self._names.next_of(table, at.namespace, at.name)
        else:
            name = self._names.name(table, at.namespace, at.name)
        return f"{verb}:{_resource(at)}:{_key(at.namespace, name)}"

    def of_event(self, at: ResourcePath, event: WatchedEvent) -> str | None:
        """The name of an event that comes now; None if another watch brought the same before."""
        meta, table = event.object.metadata, table_of(at)
        delivered = (subject_of(at), meta.uid + event.type, int(meta.resource_version))
        if delivered in self._delivered:
            return None
        self._delivered.add(delivered)
        name = self._names.name(table, meta.namespace, meta.name)
        return self._numbered(f"{event.type}:{_resource(at)}:{_key(meta.namespace, name)}")

    def _numbered(self, name: str) -> str:
        self._counts[name] += 1
        return f"{name}#{self._counts[name]}"


def written_names(body: bytes) -> WrittenNames:
    """The names in a body: JSON, YAML or protobuf; none if it cannot be read."""
    try:
        if body.startswith(MAGIC):
            return _from_protobuf(body)
        document = _decoded(body)
    except ValueError:
        return WrittenNames()
    meta = document.get("metadata") if isinstance(document, dict) else None
    if not isinstance(meta, dict):
        return WrittenNames()
    name, generate_name = meta.get("name") or "", meta.get("generateName") or ""
    return WrittenNames(str(name), str(generate_name))


def _decoded(body: bytes) -> Any:
    try:
        return decode_json(body, most=MOST_BODY)
    except MalformedInput:
        return decode_yaml(body, most=MOST_BODY)


def _from_protobuf(body: bytes) -> WrittenNames:
    meta = dict(members(bytes_in(dict(members(unwrap(body).raw)), _METADATA)))
    return WrittenNames(text(bytes_in(meta, _NAME)), text(bytes_in(meta, _GENERATE_NAME)))


def _resource(at: ResourcePath) -> str:
    plural = f"{at.group}/{at.plural}" if at.group else at.plural
    return f"{plural}/{at.sub}" if at.sub else plural


def _key(namespace: str, name: str) -> str:
    key = f"{namespace}/{name}" if namespace else name
    return key or "*"
