"""`quintant crd diff OLD NEW`: what new definitions mean for what is stored and for its users.

The exit code is 0 if nothing breaks, 1 if something does, and 2 if it cannot be judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from quintant.cli.client import open_client
from quintant.cli.crd.sources import LIVE, live_definitions, named_definitions
from quintant.client.config.config import Config
from quintant.core.crd_diff.change import DefinitionChange, Impact
from quintant.core.crd_diff.definition_changes import all_changes
from quintant.core.errors import ConfigError, QuintantError
from quintant.extras import CLUSTER, require_extra
from quintant.runtime.cache.client import Client

if TYPE_CHECKING:  # the embedded server is loaded when there is something to compare
    from quintant.cli.apply.manifest_files import JsonObject
    from quintant.cli.crd.stored_objects import JudgedKind

BREAKS, UNJUDGED = 1, 2
MANAGER = "quintant-crd-diff"
_IMPACTS = {
    Impact.BREAKING: "breaking",
    Impact.CONVERSION: "with conversion",
    Impact.SAFE: "safe",
}
_WIDTH = max(map(len, _IMPACTS.values()))


@dataclass(frozen=True, slots=True)
class DefinitionDiff:
    """Everything there is to say about two sets of definitions."""

    changes: Mapping[str, Sequence[DefinitionChange]]
    objects: Sequence[JudgedKind] = ()

    @property
    def breaks(self) -> bool:
        """Whether somebody loses something."""
        breaking = (
            change.impact is Impact.BREAKING for each in self.changes.values() for change in each
        )
        return any(breaking) or any(kind.unfit for kind in self.objects)


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.option("--live", "objects", is_flag=True,
              help="Judge what the cluster has stored by the new definitions, too.")  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Show safe changes, too.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text",
              show_default=True, help="How to show it.")  # fmt: skip
@click.option("--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places.")
def diff(
    old: str, new: str, objects: bool, everything: bool, output: str, kubeconfig: Path | None
) -> None:
    """Compare two versions of definitions: what is safe, and what breaks.

    OLD and NEW are files, folders, - for stdin, a module with kinds, an operator, or live for those
    of the cluster. The exit code is 1 if something breaks, and 2 if it cannot be judged.
    """
    try:
        require_extra(CLUSTER, "quintant crd diff")
        comparison = asyncio.run(_compared(old, new, objects, kubeconfig))
    except QuintantError as error:
        click.echo(str(error), err=True)
        raise click.exceptions.Exit(UNJUDGED) from error
    click.echo(_json(comparison) if output == "json" else _text(comparison, everything))
    if comparison.breaks:
        raise click.exceptions.Exit(BREAKS)


async def _compared(old: str, new: str, objects: bool, kubeconfig: Path | None) -> DefinitionDiff:
    if LIVE not in (old, new) and not objects:
        return await _comparison(old, new, None)
    config = Config.load(kubeconfig) if kubeconfig else Config.discover()
    async with open_client(config, MANAGER) as client:
        return await _comparison(old, new, client, objects=objects)


async def _comparison(
    old: str, new: str, client: Client | None, *, objects: bool = False
) -> DefinitionDiff:
    from quintant.cli.crd.accepted import AcceptedDefinitions
    from quintant.cli.crd.stored_objects import StoredObjects

    if old == new:
        raise ConfigError("there is nothing to compare", because=f"both are {old}")
    texts = {each: named_definitions(each) for each in (old, new) if each != LIVE}
    if client is not None and LIVE in (old, new):
        names = [each["metadata"]["name"] for text in texts.values() for each in text]
        texts[LIVE] = await live_definitions(client.rest, names)
    before, after = AcceptedDefinitions(), AcceptedDefinitions()
    await before.add(texts[old], old)
    await after.add(texts[new], new)
    changes = all_changes(before.definitions, after.definitions)
    if client is None or not objects:
        return DefinitionDiff(changes)
    judge = StoredObjects(client.rest, after)
    pairs = _pairs(before.definitions, after.definitions)
    return DefinitionDiff(changes, [await judge.judge(*pair) for pair in pairs])


def _pairs(
    old: Sequence[JsonObject], new: Sequence[JsonObject]
) -> Iterator[tuple[JsonObject, JsonObject]]:
    after = {each["metadata"]["name"]: each for each in new}
    for each in old:
        if (name := each["metadata"]["name"]) in after:
            yield each, after[name]


def _text(comparison: DefinitionDiff, everything: bool) -> str:
    return "\n".join(_lines(comparison, everything))


def _lines(comparison: DefinitionDiff, everything: bool) -> Iterator[str]:
    for name, changes in comparison.changes.items():
        yield f"{name}: {_counts(changes)}"
        for change in changes:
            if everything or change.impact is not Impact.SAFE:
                field = f"{change.path} " if change.path else ""
                impact = f"{_IMPACTS[change.impact]:{_WIDTH}}"
                yield f"  {impact}  {field}{change.rule}: {change.message}"
    for kind in comparison.objects:
        yield from _judged(kind)


def _counts(changes: Sequence[DefinitionChange]) -> str:
    counts = {
        words: sum(change.impact is impact for change in changes)
        for impact, words in _IMPACTS.items()
    }
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count) or "unchanged"


def _judged(kind: JudgedKind) -> Iterator[str]:
    if kind.because:
        yield f"{kind.definition}: its objects could not be judged: {kind.because}"
        return
    yield f"{kind.definition}: {len(kind.unfit)} of {kind.objects} stored objects do not fit"
    for obj in kind.unfit:
        name = f"{obj.namespace}/{obj.name}" if obj.namespace else obj.name
        for complaint in obj.complaints:
            yield f"  {name}: {complaint}"


def _json(comparison: DefinitionDiff) -> str:
    document: dict[str, Any] = {
        "breaks": comparison.breaks,
        "definitions": {
            name: [
                {
                    "path": change.path,
                    "rule": change.rule,
                    "impact": change.impact.name.lower(),
                    "message": change.message,
                }
                for change in changes
            ]
            for name, changes in comparison.changes.items()
        },
        "objects": msgspec.to_builtins(comparison.objects),
    }
    return msgspec.json.format(msgspec.json.encode(document)).decode()
