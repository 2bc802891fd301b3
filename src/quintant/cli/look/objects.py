"""What people name on a command line: kinds and objects of a server, by any of their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import click
import msgspec
from msgspec import Struct

from quintant.client.discovery import ServedResource, discover
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest
from quintant.core import nesting
from quintant.core.errors import ConfigError
from quintant.core.resource import Resource

MANAGER = "quintant-look"
"""Who asks; nothing is ever written under this name."""
JsonObject = dict[str, Any]
LEVELS = 64
"""What is shown of a document that is too deep to be read: more than a person looks through."""


class Selection(Struct, frozen=True):
    """What was asked for: objects of kinds, all or by name."""

    kinds: tuple[Resource, ...]
    names: tuple[str, ...] = ()


class ResourceScope(Struct, frozen=True):
    """One namespace or all of them, and labels that objects must have."""

    namespace: str
    everywhere: bool = False
    labels: str = ""

    def path(self, kind: Resource, name: str = "") -> str:
        """The path of a kind's collection here, or of one of its objects."""
        return kind.path("" if self.everywhere and not name else self.namespace, name)


async def select(rest: Rest, words: Sequence[str]) -> Selection:
    """What words mean: `pods`, `deploy,svc`, `pod NAME...` or `pod/NAME`."""
    first, *names = words
    if "/" in first:
        first, _, name = first.partition("/")
        names = [name, *names]
    served = [each for each in await discover(rest) if "get" in each.verbs]
    return Selection(tuple(_kind(word, served) for word in first.split(",")), tuple(names))


def _kind(word: str, served: Iterable[ServedResource]) -> Resource:
    found = [each for each in served if each.is_called(word)]
    # Of events there are two: the older one is the one that kubectl shows.
    best = sorted(found, key=lambda each: (not each.preferred, each.resource.group))
    if best:
        return best[0].resource
    names = {each.resource.plural for each in served if each.preferred}
    near = get_close_matches(word, names, 1)
    raise ConfigError(
        f"there is no kind {word!r}",
        because="the server serves nothing of that name",
        hint=near[0] if near else "quintant crd FILE, to install a kind of your own",
    )


async def read(rest: Rest, path: str, accept: str = "application/json", **query: str) -> JsonObject:
    """A document of the server."""
    given = {key: value for key, value in query.items() if value}
    reply = await rest.send(ApiRequest("GET", path, given, {"accept": accept}))
    return _decoded(reply.body)


def _decoded(body: bytes) -> JsonObject:
    found: JsonObject
    try:
        found = msgspec.json.decode(body)
    except RecursionError:
        # One object that somebody nested so deep must not hide the others, or itself.
        found = msgspec.json.decode(nesting.pruned(body, LEVELS))
        click.echo(f"note: what is nested deeper than {LEVELS} levels is shown as null", err=True)
    return found
