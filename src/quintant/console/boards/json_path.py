"""The paths of printer columns: `.a.b`, `.items[0]`, `.list[*].x`, `.list[?(@.type=="Ready")].y`.

What a path does not lead to is nothing, and a path that cannot be read leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

MOST_VALUES = 20
"""Values of one path that are shown."""

_TOKEN = re.compile(
    r"""\.(?P<name>(?:\\.|[^.\[\]\\])+)
      | \[(?P<index>-?\d+)\]
      | \[(?P<all>\*)\]
      | \['(?P<quoted>[^']*)'\]
      | \[\?\(\s*@\.(?P<field>[\w.-]+)\s*==\s*["'](?P<value>[^"']*)["']\s*\)\]""",
    re.VERBOSE,
)


class PathStep(NamedTuple):
    """One step of a path: into a field, an element, all of them, or those with a value."""

    name: str = ""
    position: int | None = None
    every: bool = False
    field: str = ""
    value: str = ""


@lru_cache(maxsize=1024)
def parse_path(path: str) -> tuple[PathStep, ...] | None:
    """The steps of a path; None if it is not understood."""
    text, at, steps = path.strip().removeprefix("{").removesuffix("}").removeprefix("$"), 0, []
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        steps.append(_step(token))
        at = token.end()
    return tuple(steps)


def values_at(path: str, value: Any) -> list[Any]:
    """What a path leads to."""
    steps = parse_path(path)
    if steps is None:
        return []
    found = [value]
    for step in steps:
        found = [inner for each in found for inner in _walk(step, each)][:MOST_VALUES]
    return found


def _step(token: re.Match[str]) -> PathStep:
    if (index := token["index"]) is not None:
        return PathStep(position=int(index))
    if token["all"]:
        return PathStep(every=True)
    if token["field"]:
        return PathStep(field=token["field"], value=token["value"])
    name = token["quoted"] if token["name"] is None else token["name"]
    return PathStep(name=re.sub(r"\\(.)", r"\1", name))


def _walk(step: PathStep, value: Any) -> Iterator[Any]:
    if step.name:
        if isinstance(value, dict) and step.name in value:
            yield value[step.name]
    elif not isinstance(value, list):
        return
    elif step.position is not None:
        yield from value[step.position : step.position + 1 or None]
    elif step.every:
        yield from value
    else:
        yield from (
            each
            for each in value
            if isinstance(each, dict) and str(each.get(step.field)) == step.value
        )
