"""Names that differ from run to run: of a generateName, or with chance that a program put in.

What the server makes of a generateName is known from the object. What a program makes up by itself
is learnt from undisturbed runs: names that only one of them has, with a beginning in common.
Generated names are numbered in the order in which they come: `r-<1>`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

LEAST_CHANCE = 4
"""Characters of a name that are chance: fewer are a number, or a word."""
_CHANCE = re.compile(r"[a-z0-9.-]+")


ObjectName = tuple[str, str, str]
"""Table, namespace and name."""


class NameStem(Struct, frozen=True, order=True):
    """How names of a table begin that differ from run to run, and how much follows."""

    table: str
    stem: str
    least: int
    most: int

    def covers(self, table: str, name: str) -> bool:
        """Whether a name is one of these."""
        rest = name.removeprefix(self.stem)
        if table != self.table or not name.startswith(self.stem):
            return False
        return self.least <= len(rest) <= self.most and bool(_CHANCE.fullmatch(rest))


def learn_stems(runs: Sequence[Iterable[ObjectName]]) -> frozenset[NameStem]:
    """The stems of names that not all of some undisturbed runs have."""
    names = [{(table, name) for table, _, name in each} for each in runs]
    if len(names) < 2:
        return frozenset()
    common = set.intersection(*names)
    stems: dict[tuple[str, str], set[int]] = {}
    for number, own in enumerate(names):
        others = set().union(*(names[:number] + names[number + 1 :])) - common
        for table, name in own - common:
            for stem in _stems(name, [other for at, other in others if at == table]):
                stems.setdefault((table, stem), set()).add(len(name) - len(stem))
    return frozenset(
        NameStem(table, stem, min(sizes), max(sizes)) for (table, stem), sizes in stems.items()
    )


def _stems(name: str, others: Sequence[str]) -> Iterable[str]:
    """The longest beginning, up to a hyphen, that a name has in common with one of others."""
    found = [_common(name, other).rpartition("-") for other in others if other != name]
    stems = {f"{stem}-" for stem, hyphen, _ in found if hyphen}
    longest = max(stems, key=len, default="")
    return [longest] if longest and len(name) - len(longest) >= LEAST_CHANCE else []


def _common(left: str, right: str) -> str:
    """The beginning that two names have in common."""
    pairs = zip(left, right, strict=False)
    size = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
    return left[:size]


@dataclass(slots=True)
class GeneratedNames:
    """The generated names of one run."""

    stems: frozenset[NameStem] = frozenset()
    created: dict[ObjectName, None] = field(default_factory=dict)
    """All that was made, in its order, but for what the server named."""
    numbers: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """By table, namespace and name, how a name is written where runs are compared."""
    _counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def note(self, table: str, namespace: str, name: str, generate_name: str) -> None:
        """An object was made."""
        if generate_name and name.startswith(generate_name):
            self._number(table, namespace, name, generate_name)
            return
        self.created[table, namespace, name] = None
        self.name(table, namespace, name)

    def name(self, table: str, namespace: str, name: str) -> str:
        """A name as it is the same in every run."""
        known = self.numbers.get((table, namespace, name))
        if known is not None:
            return known
        stem = next((each.stem for each in sorted(self.stems) if each.covers(table, name)), "")
        return self._number(table, namespace, name, stem) if stem else name

    def learn(self, stems: frozenset[NameStem]) -> None:
        """Know from now on which names are chance, and number those that came."""
        self.stems = stems
        for made in self.created:
            self.name(*made)

    def next_of(self, table: str, namespace: str, generate_name: str) -> str:
        """What the next name of a generateName will be."""
        return f"{generate_name}<{self._counts[table, namespace, generate_name] + 1}>"

    def _number(self, table: str, namespace: str, name: str, stem: str) -> str:
        made = self.next_of(table, namespace, stem)
        self._counts[table, namespace, stem] += 1
        self.numbers[table, namespace, name] = made
        return made
