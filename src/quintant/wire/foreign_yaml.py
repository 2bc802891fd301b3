"""The YAML of `quintant.wire.foreign`: its events are measured before anything is built of them.

libyaml builds a deep document until the stack ends, and an alias costs its reader what it stands
for; its events come one by one, and can be counted.
"""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from quintant.wire import foreign

_PARSER: Any = getattr(yaml, "CLoader", yaml.Loader)
_TEXT: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_TYPED: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LONGEST = 120
"""Characters of a complaint of PyYAML."""


def load(raw: bytes, scalars_are_text: bool) -> Any:
    """The document in a text; MalformedInput if there is none, or more than may be."""
    try:
        _Measure().read(raw)
        return yaml.load(raw, Loader=_TEXT if scalars_are_text else _TYPED)
    except foreign.MalformedInput:
        raise
    except yaml.MarkedYAMLError as error:
        position = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        # A tag or an anchor that it repeats may be a value that begins with ! or *.
        problem = (error.problem or "broken").partition("'")[0].strip()[:_LONGEST]
        raise foreign.MalformedInput(f"no YAML: {problem}{position}") from None
    except yaml.YAMLError:
        raise foreign.MalformedInput("no YAML: it holds characters that may not be") from None
    except (ValueError, ArithmeticError, TypeError, LookupError, AttributeError):
        # PyYAML's own constructors, of a date, a number or a key that is none.
        raise foreign.MalformedInput("no YAML: a value is not what it looks like") from None
    except RecursionError:
        raise foreign.MalformedInput("nested too deeply") from None


class _Open(msgspec.Struct):
    """A list or a mapping that is being read."""

    anchor: str | None
    before: int
    """Values that were counted before it."""
    height: int = 1
    """Levels of it, as far as it was read."""


class _Measure:
    """How many values a document has, and how deep they are."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._anchored: dict[str, tuple[int, int]] = {}
        """Values and levels of what is anchored and complete."""
        self._count = 0

    def read(self, raw: bytes) -> None:
        """MalformedInput at the first event that is too much."""
        for event in yaml.parse(raw, Loader=_PARSER):
            self._add(event)
            if self._count > foreign.MOST_NODES:
                raise foreign.MalformedInput(f"more than {foreign.MOST_NODES} values")

    def _add(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            self._repeat(event.anchor)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append(_Open(event.anchor, self._count))
            self._count += 1
            self._reach(0)
        elif isinstance(event, yaml.CollectionEndEvent):
            closed = self._open.pop()
            self._remember(closed.anchor, self._count - closed.before, closed.height)
            self._reach(closed.height)
        elif isinstance(event, yaml.ScalarEvent):
            self._count += 1
            self._remember(event.anchor, 1, 0)

    def _repeat(self, anchor: str | None) -> None:
        if any(each.anchor == anchor for each in self._open):
            raise foreign.MalformedInput("an alias stands inside its own anchor")
        count, height = self._anchored.get(anchor or "", (1, 0))
        self._count += count
        self._reach(height)

    def _remember(self, anchor: str | None, count: int, height: int) -> None:
        if anchor is not None:
            self._anchored[anchor] = count, height

    def _reach(self, height: int) -> None:
        """Note that what is open holds something of so many levels."""
        if len(self._open) + height > foreign.MOST_DEPTH:
            raise foreign.MalformedInput(f"nested deeper than {foreign.MOST_DEPTH} levels")
        if self._open:
            self._open[-1].height = max(self._open[-1].height, height + 1)
