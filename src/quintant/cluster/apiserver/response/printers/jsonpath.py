"""JSONPath: the part of it that printer columns may use: fields, indices, wildcards, filters.

    .status.conditions[?(@.type=="Ready")].status      .spec.ports[0].port
    .metadata.annotations['example\\.com/zone']         .spec.items[*].name    .spec.items[-1:]

A path that leads nowhere has no values; that is not an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

Step = Callable[[Any], Iterator[Any]]
"""From a value to those one step further."""

_TOKEN = re.compile(
    r"""\.(?P<field>(?:[^.\[\]\\'"*]|\\.)+)"""
    r"""|(?P<every>\.\*|\[\*\])"""
    r"""|\[(?P<quote>['"])(?P<key>(?:(?!(?P=quote)).)*)(?P=quote)\]"""
    r"""|\[(?P<first>-?\d*):(?P<last>-?\d*)\]"""
    r"""|\[(?P<index>-?\d+)\]"""
    r"""|\[\?\(\s*@(?P<path>[^=!<>]*?)\s*(?P<test>==|!=)\s*(?P<literal>[^)]*?)\s*\)\]"""
)


def compile_path(text: str) -> tuple[Step, ...]:
    """The steps of a path; ValueError if it is not one of these."""
    steps, at = [], 0
    text = text.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"cannot read a path from {text[at:]!r}")
        steps.append(_step(token))
        at = token.end()
    return tuple(steps)


def find(value: Any, steps: tuple[Step, ...]) -> list[Any]:
    """Every value at the end of a path."""
    found = [value]
    for step in steps:
        found = [further for each in found for further in step(each)]
    return found


def _step(token: re.Match[str]) -> Step:
    if token["every"]:
        return _every
    if token["index"]:
        at = int(token["index"])
        return partial(_slice, first=at, last=at + 1 or None)
    if token["first"] is not None:
        first, last = (int(token[name]) if token[name] else None for name in ("first", "last"))
        return partial(_slice, first=first, last=last)
    if token["test"]:
        path, same = compile_path(token["path"]), token["test"] == "=="
        return partial(_filter, path=path, literal=_literal(token["literal"]), same=same)
    name = token["field"] if token["key"] is None else token["key"]
    return partial(_field, name=re.sub(r"\\(.)", r"\1", name))


def _field(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, dict) and name in value:
        yield value[name]


def _every(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield from value.values() if isinstance(value, dict) else value


def _slice(value: Any, first: int | None, last: int | None) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value[first:last]


def _filter(value: Any, path: tuple[Step, ...], literal: Any, same: bool) -> Iterator[Any]:
    for each in _every(value):
        found = find(each, path)
        if found and (found[0] == literal) is same:
            yield each


def _literal(text: str) -> Any:
    if text[:1] in ("'", '"'):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return float(text)
