"""The resources of a server, with all that selectors ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from quintant.client.discovery import AGGREGATED, ROOTS
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core import codec
from quintant.core.errors import ObjectIdentity, Undecodable
from quintant.kopf.declare.resource import Resource, ResourceSelector

WATCHABLE = frozenset({"list", "watch"})


async def discover(rest: Rest) -> list[Resource]:
    """Every resource that is served, in every version."""
    found: list[Resource] = []
    for root in ROOTS:
        reply = await rest.send(ApiRequest("GET", root, {}, {"accept": AGGREGATED}))
        document = codec.decode_reply(reply.body, dict[str, Any])
        try:
            for group in document.get("items") or ():
                found += _resources(group)
        except (AttributeError, TypeError, ValueError) as error:
            raise Undecodable(ObjectIdentity("discovery"), str(error)) from error
    return found


def chosen(selectors: Iterable[ResourceSelector], resources: Iterable[Resource]) -> list[Resource]:
    """Those resources that any of some selectors means, and that can be followed."""
    every, found = list(resources), dict[Resource, None]()
    for each in selectors:
        found |= dict.fromkeys(each.select(every))
    return [each for each in found if each.verbs >= WATCHABLE]


def _resources(group: dict[str, Any]) -> Iterator[Resource]:
    name, seen = str((group.get("metadata") or {}).get("name") or ""), set[str]()
    for version in group.get("versions") or ():
        for entry in version.get("resources") or ():
            plural = str(entry.get("resource") or "")
            yield Resource(
                name,
                str(version.get("version") or ""),
                plural,
                kind=(entry.get("responseKind") or {}).get("kind"),
                singular=entry.get("singularResource") or None,
                shortcuts=frozenset(entry.get("shortNames") or ()),
                categories=frozenset(entry.get("categories") or ()),
                subresources=frozenset(
                    str(each.get("subresource")) for each in entry.get("subresources") or ()
                ),
                namespaced=entry.get("scope") == "Namespaced",
                preferred=plural not in seen,
                verbs=frozenset(entry.get("verbs") or ()),
            )
            seen.add(plural)
