"""The series of several processes as one exposition: each has a label `process` more. Pure.

A family is written once, with the head that came first and the samples of all, so that what comes
out is valid: Prometheus refuses a scrape in which a family is cut in two. Counters and histograms
add up over the label. A program's own label `process` becomes `exported_process`, as Prometheus
itself does it. What is no line of an exposition is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct, field

LABEL, RENAMED = "process", "exported_process"
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
# Python 3.11.2, which is Debian's, matches too much where a group is repeated possessively.
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="([^"\\]*(?:\\.[^"\\]*)*)"')
_LABELS = re.compile(r'(?:[A-Za-z_][A-Za-z0-9_]*="[^"\\]*(?:\\.[^"\\]*)*"(?:,|$))*')
_VALUE = re.compile(r"(?:[+-]?(?:Inf|[0-9.]+(?:[eE][+-]?[0-9]+)?)|NaN)(?: -?[0-9]+)?")
_OF_SEVERAL = ("histogram", "summary")
_SUFFIXES = ("_bucket", "_count", "_sum")
"""Of the samples that belong to a family of another name."""


class _Family(Struct):
    """One family: its head, and the samples of every process."""

    kind: str = ""
    head: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)


def merge(expositions: Mapping[str, bytes]) -> bytes:
    """One exposition of several, by process."""
    families: dict[str, _Family] = {}
    for process, text in expositions.items():
        _add(families, process, text.decode("utf-8", "replace"))
    lines = (line for family in families.values() for line in _lines(family))
    return "".join(f"{line}\n" for line in lines).encode()


def _add(families: dict[str, _Family], process: str, text: str) -> None:
    kinds: dict[str, str] = {}
    for line in text.split("\n"):
        if line.startswith("# TYPE "):
            _note_kind(families, kinds, line)
        elif line.startswith("# HELP "):
            _note_help(families, line)
        elif line and not line.startswith("#"):
            _add_sample(families, kinds, process, line)


def _note_kind(families: dict[str, _Family], kinds: dict[str, str], line: str) -> None:
    words = line.split(" ")
    if len(words) == 4 and _NAME.fullmatch(words[2]):
        name = words[2]
        kinds[name] = words[3]
        family = families.setdefault(name, _Family())
        if not family.kind:
            family.kind = words[3]
            family.head.append(line)


def _note_help(families: dict[str, _Family], line: str) -> None:
    name = line.split(" ", 3)[2]
    if _NAME.fullmatch(name):
        family = families.setdefault(name, _Family())
        if not family.head:
            family.head.append(line)


def _add_sample(
    families: dict[str, _Family], kinds: Mapping[str, str], process: str, line: str
) -> None:
    name, labels, value = _parts(line)
    if not (_NAME.fullmatch(name) and _LABELS.fullmatch(labels) and _VALUE.fullmatch(value)):
        return
    home = _home(name, kinds)
    family = families.setdefault(home, _Family())
    # Two programs of other versions may differ: a family has one type.
    if family.kind == kinds.get(home, ""):
        family.samples.append(f"{name}{{{_labelled(labels, process)}}} {value}")


def _parts(line: str) -> tuple[str, str, str]:
    """Name, labels and value of a sample; the last two are empty if it is none."""
    name, brace, rest = line.partition("{")
    if brace:
        labels, _, value = rest.rpartition("} ")
        return name, labels, value
    name, _, value = line.partition(" ")
    return name, "", value


def _home(name: str, kinds: Mapping[str, str]) -> str:
    if name in kinds:
        return name
    for suffix in _SUFFIXES:
        if name.endswith(suffix) and kinds.get(name.removesuffix(suffix)) in _OF_SEVERAL:
            return name.removesuffix(suffix)
    return name


def _labelled(labels: str, process: str) -> str:
    if f"{LABEL}=" in labels:
        labels = _LABEL.sub(_renamed, labels)
    return f'{LABEL}="{process}",{labels}' if labels else f'{LABEL}="{process}"'


def _renamed(match: re.Match[str]) -> str:
    return f'{RENAMED}="{match[2]}"' if match[1] == LABEL else match[0]


def _lines(family: _Family) -> Iterator[str]:
    if family.samples:
        yield from family.head
        yield from family.samples
