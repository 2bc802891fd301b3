"""Names that differ from run to run: of a generateName, or with chance that a program put in.

What the server makes of a generateName is known from the object, and so is the digest of a template
at the end of a ReplicaSet's name: with chance in the template it is another one each time, and not
always as long. What a program makes up by itself is learnt from undisturbed runs: names that only
one of them has, with a beginning in common.
Generated names are numbered in the order in which they come: `r-<1>`. Those that begin with another
one are numbered below it: `r-<1>-<2>` is the second pod of the first ReplicaSet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from quintant.testing.explore.simulation.objects import StoredMeta

OF_TEMPLATES = "pod-template-hash"
"""The label that has a digest of a template, which chance may be in."""
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


def made_stem(meta: StoredMeta) -> str:
    """How a name begins whose end nobody wrote: the server made it up, or it is a digest."""
    digest = meta.labels.get(OF_TEMPLATES, "")
    if digest and meta.name.endswith(f"-{digest}"):
        return meta.name.removesuffix(digest)
    return meta.generate_name


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
    numbers: dict[ObjectName, str] = field(default_factory=dict)
    """How a name is written where runs are compared."""
    _made: dict[ObjectName, str] = field(default_factory=dict)
    """All that was made, in its order, with its generateName."""
    _counts: Counter[ObjectName] = field(default_factory=Counter)
    _parents: dict[str, str] = field(default_factory=dict)
    """The same as `numbers`, without tables: others begin with them."""

    @property
    def created(self) -> list[ObjectName]:
        """All that was made, but for what the server named."""
        return [each for each, generate_name in self._made.items() if not generate_name]

    def note(self, table: str, namespace: str, name: str, generate_name: str) -> None:
        """An object was made."""
        stem = generate_name if name.startswith(generate_name) else ""
        self._made[table, namespace, name] = stem
        if stem:
            self._number(table, namespace, name, stem)
        else:
            self.name(table, namespace, name)

    def name(self, table: str, namespace: str, name: str) -> str:
        """A name as it is the same in every run."""
        known = self.numbers.get((table, namespace, name))
        if known is not None:
            return known
        stem = next((each.stem for each in sorted(self.stems) if each.covers(table, name)), "")
        if not stem:
            return name
        return self._number(table, namespace, name, max(stem, self._parent(name), key=len))

    def learn(self, stems: frozenset[NameStem]) -> None:
        """Know from now on which names are chance, and number again those that came."""
        made = dict(self._made)
        self.stems = stems
        for each in (self.numbers, self._made, self._counts, self._parents):
            each.clear()
        for (table, namespace, name), generate_name in made.items():
            self.note(table, namespace, name, generate_name)

    def next_of(self, table: str, namespace: str, stem: str) -> str:
        """What the next name of a generateName will be."""
        parent = self._parent(stem)
        written = self._parents[parent[:-1]] + stem[len(parent) - 1 :] if parent else stem
        return f"{written}<{self._counts[table, namespace, stem] + 1}>"

    def _parent(self, name: str) -> str:
        """The longest generated name that a name begins with, and its hyphen."""
        found = (f"{each}-" for each in self._parents if name.startswith(f"{each}-"))
        return max(found, key=len, default="")

    def _number(self, table: str, namespace: str, name: str, stem: str) -> str:
        made = self.next_of(table, namespace, stem)
        self._counts[table, namespace, stem] += 1
        self.numbers[table, namespace, name] = self._parents[name] = made
        return made
