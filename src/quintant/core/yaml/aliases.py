"""Whether the aliases of a YAML document make a small text a huge value.

A few lines that refer to each other can stand for a billion values. `runtime.yaml` asks before it
builds any of them; the measure is that of Go's reader, so that both refuse the same texts.
"""

from __future__ import annotations

import yaml

ALIASED_FROM, VISITED_FROM = 100, 1_000
"""Values read through aliases, and values at all, up to which they are not counted."""
FREELY, SPARINGLY = (400_000, 0.99), (4_000_000, 0.10)
"""Up to so many values almost all may come from aliases, from so many on few: Go's own numbers."""


def is_excessive(root: yaml.Node) -> bool:
    """Whether aliases make a small text a huge value, by the measure of Go's reader."""
    total, written = _visits(root)
    if total <= VISITED_FROM or total - written <= ALIASED_FROM:
        return False
    (low, most), (high, least) = FREELY, SPARINGLY
    share = min(max((total - low) / (high - low), 0.0), 1.0)
    return (total - written) / total > most + share * (least - most)


def _visits(root: yaml.Node) -> tuple[int, int]:
    """How many values a document stands for, and how many are written, aliases as one each."""
    counts: dict[int, int] = {}
    opened: set[int] = set()
    waiting, written = [root], 1
    while waiting:
        node = waiting[-1]
        inside = _inside(node)
        if id(node) in opened:
            counts.setdefault(id(node), 1 + sum(counts.get(id(child), 0) for child in inside))
            waiting.pop()
        else:
            opened.add(id(node))
            written += len(inside)
            waiting += [child for child in inside if id(child) not in opened]
    return counts[id(root)], written


def _inside(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [each for entry in node.value for each in entry]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
