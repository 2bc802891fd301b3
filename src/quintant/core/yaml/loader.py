"""The loader behind `runtime.yaml`: PyYAML, with Go's rules for what a plain word stands for.

PyYAML splits the text and builds the tree of nodes; which of them is a number, a boolean or null,
and what becomes of keys, merges and unknown tags, is said here.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from quintant.core.yaml import DEEPEST, YamlError
from quintant.core.yaml.aliases import is_excessive

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML built without libyaml: slower, same rules
    from yaml import SafeLoader as _Base  # type: ignore[assignment]

_PREFIX = "tag:yaml.org,2002:"
_STR, _INT, _FLOAT, _BOOL = (_PREFIX + name for name in ("str", "int", "float", "bool"))
_NULL, _MERGE, _SEQUENCE, _MAPPING = (_PREFIX + name for name in ("null", "merge", "seq", "map"))
_TRUE = frozenset(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE = frozenset(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_EMPTY = frozenset(("", "~", "null", "Null", "NULL"))
_WORDS = {
    **dict.fromkeys(_TRUE | _FALSE, _BOOL),
    **dict.fromkeys(_EMPTY, _NULL),
    "<<": _MERGE,
}

_NUMERIC = frozenset("0123456789+-.")
_WHOLE = re.compile(
    r"[-+]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)"
    r"|(?P<dec>0|[1-9][0-9]*))"
)
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}

LONGEST = 80
"""Characters of a whole number: 64 binary digits and what may stand before them. Go reads what is
longer as a float, or as text."""

# Go keeps a whole number exact up to 64 bits, and makes a float of what is longer.
_LEAST, _MOST = -(2**63), 2**64 - 1


def read(
    text: str | bytes, name: str, notes: list[str] | None, documents: Callable[[Any], list[Any]]
) -> Iterator[Any]:
    """The documents of a text that are not empty: the `first`, or `every` one."""
    try:
        loaded = documents(_Loader(text, notes))
    except yaml.MarkedYAMLError as error:
        raise _unreadable(name, error) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise YamlError(name, str(error).splitlines()[0]) from None
    except RecursionError:
        raise YamlError(name, "exceeded max depth") from None
    return (document for document in loaded if document is not None)


def first(loader: Any) -> list[Any]:
    """The first document of a loader: whatever follows is not even looked at."""
    found = [loader.get_data()] if loader.check_data() else []
    loader.dispose()
    return found


def every(loader: Any) -> list[Any]:
    """Every document of a loader, whose class has no types."""
    found = []
    while loader.check_data():
        found.append(loader.get_data())
    loader.dispose()
    return found


class _Loader(_Base):
    """The loader itself; PyYAML wants a class."""

    def __init__(self, text: str | bytes, notes: list[str] | None = None) -> None:
        super().__init__(text)
        self._notes = notes
        self._depth = 0
        self._aliased = "*" in text if isinstance(text, str) else b"*" in text

    def twice(self, key: yaml.Node, name: str) -> None:
        """Refuse a key that is given twice, or note it."""
        if self._notes is None:
            raise _refused(key, f'key "{name}" is given twice')
        self._notes.append(
            f"line {key.start_mark.line + 1}: key {json.dumps(name)} already set in map"
        )

    def descend_resolver(self, parent: Any, index: Any) -> None:
        # Called for every node on the way down. libyaml itself would continue until the stack ends.
        self._depth += 1
        if self._depth > DEEPEST + 1:
            raise yaml.composer.ComposerError(None, None, f"exceeded max depth of {DEEPEST}")

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def construct_document(self, node: yaml.Node) -> Any:
        if self._aliased and is_excessive(node):
            raise yaml.constructor.ConstructorError(
                None, None, "document contains excessive aliasing"
            )
        return super().construct_document(node)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        # Only what is referred to elsewhere has to be remembered, and may contain itself.
        if not self._aliased or isinstance(node, yaml.ScalarNode):
            return self.yaml_constructors.get(node.tag, _any)(self, node)
        return super().construct_object(node, deep)

    def parts(self, node: yaml.Node) -> Iterator[Any]:
        """What is in a node, each part released before the next.

        To free a million nodes at once would halt every thread for a while.
        """
        if self._aliased:
            yield from node.value
            return
        left, node.value = node.value, []
        left.reverse()
        while left:
            yield left.pop()

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _tag(value) if implicit[0] else _STR
        return _SEQUENCE if kind is yaml.SequenceNode else _MAPPING


def _tag(text: str) -> str:
    word = _WORDS.get(text)
    if word is not None:
        return word
    if text[0] not in _NUMERIC:
        return _STR
    plain = text.replace("_", "")
    if len(plain) <= LONGEST and _WHOLE.fullmatch(plain):
        return _INT
    if _SPECIAL.fullmatch(text):
        return _FLOAT
    # 1e400 has no float: Go leaves it a string.
    return _FLOAT if _DECIMAL.fullmatch(plain) and not math.isinf(float(plain)) else _STR


def _number(loader: _Loader, node: yaml.ScalarNode) -> int | float:
    plain = node.value.replace("_", "")
    whole = _WHOLE.fullmatch(plain)
    if whole:
        base = whole.lastgroup or "dec"
        value = int(whole[base], _BASES[base]) * (-1 if plain[0] == "-" else 1)
        return value if _LEAST <= value <= _MOST else float(value)
    if not _DECIMAL.fullmatch(plain):
        raise _refused(node, "this is not a number that JSON can hold")
    real = float(plain)
    return int(real) if real.is_integer() and _LEAST <= real < 2**63 else real


def _boolean(loader: _Loader, node: yaml.ScalarNode) -> bool:
    if node.value not in _TRUE | _FALSE:
        raise _refused(node, "this is not a boolean")
    return node.value in _TRUE


def _binary(loader: _Loader, node: yaml.ScalarNode) -> str:
    try:
        return base64.b64decode("".join(node.value.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        raise _refused(node, "!!binary does not hold base64 of a text") from None


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Any]:
    own = {id(key) for key, _ in node.value if key.tag != _MERGE}
    # After flattening, merged entries come first: an entry of the mapping itself wins.
    loader.flatten_mapping(node)
    found: dict[str, Any] = {}
    seen: set[str] = set()
    for key, value in loader.parts(node):
        name = _key(loader, key)
        if id(key) in own:
            if name in seen:
                loader.twice(key, name)
            seen.add(name)
        found[name] = loader.construct_object(value, deep=True)
    return found


def _key(loader: _Loader, node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _refused(node, "a key must be a plain value")
    key = loader.construct_object(node, deep=True)
    if key is None:
        raise _refused(node, "a key must not be null")
    if isinstance(key, bool):
        return "true" if key else "false"
    return format(key, ".9g") if isinstance(key, float) else str(key)


def _sequence(loader: _Loader, node: yaml.SequenceNode) -> list[Any]:
    return [loader.construct_object(item, deep=True) for item in loader.parts(node)]


def _any(loader: _Loader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, node)
    if isinstance(node, yaml.SequenceNode):
        return _sequence(loader, node)
    return node.value


def _refused(node: yaml.Node, why: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, why, node.start_mark)


def _unreadable(name: str, error: yaml.MarkedYAMLError) -> YamlError:
    """The complaint without the text around it, which may hold a secret."""
    mark = error.problem_mark or error.context_mark
    position = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    # Go names the first line it has that is not the first, and lets its scanner count from one.
    marks = [each.line for each in (error.context_mark, error.problem_mark) if each]
    line = next((each for each in marks if each), 0)
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    return YamlError(name, str(error.problem or error.context), position, line)


_CONSTRUCTORS: dict[str, Callable[[Any, Any], Any]] = {
    "str": _any, "seq": _sequence, "map": _mapping, "bool": _boolean, "int": _number,
    "float": _number, "null": lambda loader, node: None, "timestamp": _any, "binary": _binary,
    "set": _mapping, "omap": _sequence, "pairs": _sequence, "merge": _any, "value": _any,
}  # fmt: skip
for _name, _construct in _CONSTRUCTORS.items():
    _Loader.add_constructor(_PREFIX + _name, _construct)
_Loader.add_constructor(None, _any)
