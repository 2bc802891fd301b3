"""Objects as YAML, the way every Kubernetes tool reads it.

Readers differ over which bare words are numbers and truth values (`1e3`, `on`, `y`), so whatever
any of them might take for one is quoted. Keys are sorted and lines never folded: the same objects
give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

# Bare words that some reader takes for a truth value.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_NUMBER = re.compile(r"[-+]?\.?[0-9]")
# Line breaks of other alphabets and what no eye can see: safe only as escapes.
_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]")


def to_yaml(objects: Iterable[Any]) -> str:
    """One document per object."""
    return "---\n".join(
        yaml.dump(obj, Dumper=_Dumper, allow_unicode=True, width=float("inf")) for obj in objects
    )


class _Dumper(yaml.SafeDumper):
    """Writes shared values twice instead of as anchors, and strings so that they stay strings."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    lines = "\n" in text
    doubtful = not lines and (text.lower() in _WORDS or _NUMBER.match(text))
    style = '"' if doubtful or _UNSEEN.search(text) else "|" if lines else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
