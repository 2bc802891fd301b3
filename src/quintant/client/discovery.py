"""What a server serves now, built-in or custom, by whatever name people call it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core import codec
from quintant.core.object import Model
from quintant.core.resource import Resource

ROOTS = ("/api", "/apis")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class ServedResource(Struct, frozen=True):
    """One resource, in one version, and what can be done with it."""

    resource: Resource
    verbs: frozenset[str]
    preferred: bool
    """Whether it is the version of its group that the server puts first."""
    singular: str = ""
    short_names: tuple[str, ...] = ()

    def is_called(self, word: str) -> bool:
        """Whether a word means it: plural, singular, short name or kind, with a group or not."""
        name, _, group = word.lower().partition(".")
        resource = self.resource
        names = (resource.plural, self.singular, resource.kind.lower(), *self.short_names)
        groups = ("", resource.group, f"{resource.version}.{resource.group}")
        return name in names and group in groups


class _Kind(Model):
    kind: str = ""


class _Entry(Model):
    resource: str
    response_kind: _Kind = _Kind()
    scope: str = ""
    verbs: tuple[str, ...] = ()
    singular_resource: str = ""
    short_names: tuple[str, ...] = ()


class _Version(Model):
    version: str
    resources: tuple[_Entry, ...] = ()


class _Name(Model):
    name: str = ""


class _Group(Model):
    metadata: _Name = _Name()
    versions: tuple[_Version, ...] = ()


class _Groups(Model):
    items: tuple[_Group, ...] = ()


async def discover(rest: Rest) -> tuple[ServedResource, ...]:
    """Every resource of every version that is served now."""
    found: list[ServedResource] = []
    for root in ROOTS:
        reply = await rest.send(ApiRequest("GET", root, {}, {"accept": AGGREGATED}))
        found += _parse(codec.decode_reply(reply.body, _Groups).items)
    return tuple(found)


def _parse(groups: Iterable[_Group]) -> Iterator[ServedResource]:
    """The resources of a discovery document; each is preferred in the first version that has it."""
    for group in groups:
        seen: set[str] = set()
        for version in group.versions:
            for entry in version.resources:
                resource = Resource(
                    group.metadata.name,
                    version.version,
                    entry.response_kind.kind,
                    entry.resource,
                    namespaced=entry.scope == "Namespaced",
                )
                yield ServedResource(
                    resource,
                    frozenset(entry.verbs),
                    entry.resource not in seen,
                    entry.singular_resource,
                    entry.short_names,
                )
                seen.add(entry.resource)
