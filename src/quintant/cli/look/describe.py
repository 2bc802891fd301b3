"""`quintant describe`: one object, and what happened to it.

quintant describe portalexpose shop
quintant describe pod/relay-a -n demo
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from quintant.cli.client import client_flags, run_with_client
from quintant.cli.look.get import objects
from quintant.cli.look.objects import MANAGER, JsonObject, ResourceScope, read, select
from quintant.cli.look.table import Rows, laid_out, shown
from quintant.client.rest import Rest
from quintant.core.yaml.dump import to_yaml
from quintant.runtime.cache.client import Client

_HEAD = ("apiVersion", "kind", "metadata")
_SECRET = ("data", "stringData")
_EVENTS = "/api/v1/namespaces/{}/events"


@click.command("describe")
@click.argument("words", nargs=-1, required=True, metavar="KIND [NAME]...")
@client_flags
def command(words: tuple[str, ...], **way: Any) -> None:
    """Show objects in full, and what happened to them."""

    async def work(client: Client, namespace: str) -> None:
        chosen, scope = await select(client.rest, words), ResourceScope(namespace)
        count = 0
        async for obj in objects(client.rest, chosen, scope):
            events = await _events(client.rest, obj)
            click.echo(f"{chr(10) if count else ''}{described(obj, events)}")
            count += 1
        if not count:
            click.echo(f"No resources found in {namespace} namespace.", err=True)

    run_with_client(MANAGER, work, **way)


def described(obj: JsonObject, events: list[JsonObject]) -> str:
    """An object and its events as text; of a Secret, how much it holds and not what."""
    return "\n".join((*_head(obj), *_body(obj), "Events:", *_happened(events)))


def _head(obj: JsonObject) -> Iterator[str]:
    meta = obj["metadata"]
    yield f"Name:         {meta['name']}"
    if "namespace" in meta:
        yield f"Namespace:    {meta['namespace']}"
    yield f"Kind:         {obj['kind']} ({obj['apiVersion']})"
    yield f"Created:      {meta.get('creationTimestamp', '')}"
    if "deletionTimestamp" in meta:
        waits = ", ".join(meta.get("finalizers") or ()) or "nothing"
        yield f"Deleted:      {meta['deletionTimestamp']}, held by {waits}"
    for owner in meta.get("ownerReferences") or ():
        yield f"Owner:        {owner['kind']} {owner['name']}"
    for title, values in (("Labels", meta.get("labels")), ("Annotations", meta.get("annotations"))):
        for at, (key, value) in enumerate((values or {}).items()):
            yield f"{f'{title}:' if not at else '':14}{shown(key)}={shown(value)}"


def _body(obj: JsonObject) -> Iterator[str]:
    for name, value in obj.items():
        if name in _HEAD or value in (None, {}, []):
            continue
        if obj["kind"] == "Secret" and name in _SECRET:
            value = {key: f"{len(each)} characters of base64" for key, each in value.items()}
        text = to_yaml([value]) if isinstance(value, dict | list) else f"{shown(str(value))}\n"
        yield f"{name[:1].upper()}{name[1:]}:"
        yield from (f"  {line}" for line in text.rstrip("\n").split("\n"))


def _happened(events: list[JsonObject]) -> Iterator[str]:
    if not events:
        yield "  none"
        return
    lines = tuple(
        tuple(shown(str(cell)) for cell in cells)
        for cells in (
            (_when(each), each.get("type", ""), each.get("reason", ""), each.get("message", ""))
            for each in sorted(events, key=_when)
        )
    )
    text = laid_out(Rows(("LAST SEEN", "TYPE", "REASON", "MESSAGE"), lines))
    yield from (f"  {line}" for line in text.split("\n"))


def _when(event: JsonObject) -> str:
    series = (event.get("series") or {}).get("lastObservedTime")
    return str(series or event.get("lastTimestamp") or event.get("eventTime") or "")


async def _events(rest: Rest, obj: JsonObject) -> list[JsonObject]:
    meta = obj["metadata"]
    about = f"involvedObject.uid={meta['uid']}"
    path = _EVENTS.format(meta.get("namespace", "default"))
    found: list[JsonObject] = (await read(rest, path, fieldSelector=about)).get("items") or []
    return found
