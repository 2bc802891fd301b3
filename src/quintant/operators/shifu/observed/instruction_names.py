"""The names of a device's instructions, read from a ConfigMap of a user. Pure.

A fleet has the same text a thousand times: it is read once. A text that is no YAML, or too long to
be read between two other things, has no names; what is wrong with it is the agent's to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from quintant.wire.foreign import MalformedInput, decode_yaml

MOST_NAMES = 50
LONGEST_NAME = 253
LONGEST_TEXT = 65_536
MOST_TEXTS = 1024
"""Different texts whose names are remembered."""
_known: dict[bytes, tuple[str, ...]] = {}


def instruction_names(text: str) -> tuple[str, ...]:
    """The names in a section of instructions, in order; not all of very many."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    found = _known.get(digest)
    if found is None:
        if len(_known) >= MOST_TEXTS:
            _known.clear()
        found = _known[digest] = _read(text)
    return found


def usable_names(names: Iterable[str]) -> tuple[str, ...]:
    """Those of names that an instruction can have, in order; not all of very many."""
    usable = (each for each in names if 0 < len(each) <= LONGEST_NAME and each.isprintable())
    return tuple(sorted(usable)[:MOST_NAMES])


def _read(text: str) -> tuple[str, ...]:
    if not text or len(text) > LONGEST_TEXT:
        return ()
    try:
        whole = _names(decode_yaml(text, scalars_are_text=True))
    except MalformedInput:
        return ()
    flat = not whole.keys() & {"instructions", "instructionSettings"}
    return usable_names(whole if flat else _names(whole.get("instructions")))


def _names(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        return {}
    return {name: each for name, each in value.items() if isinstance(name, str)}
