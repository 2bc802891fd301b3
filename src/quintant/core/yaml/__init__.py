"""YAML as kubectl reads it: one loader for kubeconfigs, manifests and operator files.

kubectl turns YAML into JSON with Go's YAML 1.1 reader, so a value here is always what JSON can
hold. What differs from PyYAML's own safe loader:

- `y`, `n`, `yes`, `no`, `on`, `off` are booleans (quote them to get strings); PyYAML knows no `y`;
- dates and times stay strings, and so do `1:30` and `=`;
- `0o17` and `017` are octal, `1e3` is a number, `1.0` is the whole number 1, as JSON has it;
- every key is a string: `1: a` and `true: a` have the keys "1" and "true".

A key given twice, and an alias inside its own anchor, are errors. Unknown tags are ignored. A text
from anywhere can be read: what is nested too deep, or made huge by aliases, is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quintant.core.errors import ConfigError

DEEPEST = 1_000
"""Levels a document may be nested: far more than is ever meant, and little enough for any stack."""


class YamlError(ConfigError):
    """A text is no YAML: what is wrong, and in which line as Go's reader counts, 0 if in none."""

    def __init__(self, name: str, problem: str, position: str = "", line: int = 0) -> None:
        super().__init__(f"cannot read {name}", because=f"{position}{problem}")
        self.problem = problem
        self.line = line


def load(text: str | bytes, name: str = "the document", notes: list[str] | None = None) -> Any:
    """The first document of a text as dicts, lists and scalars; YamlError names `name`.

    With `notes`, a key given twice is no error: the last one counts, and it is noted there.
    """
    # PyYAML is loaded by those who read some: most programs speak JSON only.
    from quintant.core.yaml.loader import first, read

    return next(read(text, name, notes, first), None)


def load_all(
    text: str | bytes, name: str = "the document", notes: list[str] | None = None
) -> Iterator[Any]:
    """Every document of a text, empty ones left out."""
    from quintant.core.yaml.loader import every, read

    return read(text, name, notes, every)
