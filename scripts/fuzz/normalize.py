"""What two servers may tell differently about the same requests, and how it is made comparable.

This is the whole list; everything else is compared as it is, messages included:

| what | why | becomes |
|---|---|---|
| the namespace | each sequence has its own | `namespace` |
| uids | made at random | `uid-1`, … in the order they are seen: the same one stays the same |
| resourceVersions of objects | each server counts its own way | `rv-1`, … likewise |
| resourceVersions of lists, and in texts | they count other objects, too | left out |
| times that the server sets | the clock | `time` |
| the order of managedFields | it follows from those times | sorted by manager |
| cluster IPs and node ports that the server chose | chosen at random | `ip`, `port` |
| a whole document quoted in a message | its fields come in the order of Go's structs | `…` |
| an empty map quoted in a message | Go tells it from none | `null` |
| how two specs differ, in the refusal to change a pod | the text of a Go library | left out |
| the order of several causes, and of their message's words | Go visits maps anyhow | sorted |
| a cause told twice | on updates, metadata is looked at twice | told once |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fuzz.player import Answer, Record

JsonObject = dict[str, Any]

TIME = "time"
_NAMESPACE = re.compile(r"\bfuzz-[0-9a-z]{8}\b")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LOCK = re.compile(
    r"(ResourceVersion in \w+)( meta)?: \d+|(in (?:record|the precondition)) \(\d+\)"
)
_SEVERAL = re.compile(r"errors:\n.*", re.DOTALL)
_CHOSEN_IP = re.compile(r"\b(10|127)\.96\.\d+\.\d+")
_DOCUMENT = re.compile(r'Invalid value: "(\{|map\[)(\\.|[^"\\])*"')
_NAMELESS = re.compile(r"Object 'Kind' is missing in '\{.*\}'")
_SPEC_DIFF = re.compile(r"(if it was previously negative\))\n.*", re.DOTALL)
_CHOSEN_PORTS = range(30_000, 40_000)
"""The ports a server chooses from, dry runs included: those that requests name are below."""
_TIMES = ("creationTimestamp", "deletionTimestamp", "time")


@dataclass(slots=True)
class _Names:
    """Names for values, in the order they are seen."""

    known: dict[str, str] = field(default_factory=dict)

    def of(self, sort: str, value: object) -> str:
        count = sum(name.startswith(sort) for name in self.known.values())
        return self.known.setdefault(f"{sort} {value}", f"{sort}-{count + 1}")


def normal(record: Record) -> Record:
    """A record that can be compared with another server's."""
    names = _Names()
    answers = [
        Answer(each.code, _value(each.body, names), tuple(sorted(each.warnings)))
        for each in record.answers
    ]
    events = {
        place: [_value(event, names) for event in told] for place, told in record.events.items()
    }
    return Record(answers, events)


def _value(value: Any, names: _Names, key: str = "") -> Any:
    special = _SPECIAL.get(key)
    if special is not None:
        return special(value, names)
    if isinstance(value, dict):
        return _object(value, names)
    if isinstance(value, list):
        return [_value(each, names) for each in value]
    return _text(value, names) if isinstance(value, str) else value


def _object(found: JsonObject, names: _Names) -> JsonObject:
    if "items" in found and "metadata" in found:
        about = {key: each for key, each in found["metadata"].items() if key != "resourceVersion"}
        found = {**found, "metadata": about}
    if found.get("kind") == "Status":
        return _status(found, names)
    return {_text(key, names): _value(found[key], names, key) for key in sorted(found)}


def _status(found: JsonObject, names: _Names) -> JsonObject:
    """A refusal, its causes in order."""
    plain = {key: _value(each, names) for key, each in found.items()}
    causes = (plain.get("details") or {}).get("causes") or []
    if causes:
        told = {str(cause): cause for cause in causes}
        words = set(re.split(r"[\s\[\],]+", plain["message"]))
        plain["details"]["causes"] = [told[text] for text in sorted(told)]
        plain["message"] = " ".join(sorted(words - {""}))
    return plain


def _text(text: str, names: _Names) -> str:
    text = _NAMESPACE.sub("namespace", text)
    text = _UID.sub(lambda found: names.of("uid", found.group()), text)
    text = _CHOSEN_IP.sub("ip", text)
    text = _DOCUMENT.sub("Invalid value: …", _SPEC_DIFF.sub(r"\1", text))
    text = text.replace("Invalid value: {}:", "Invalid value: null:")
    text = _NAMELESS.sub("Object 'Kind' is missing in …", text)
    text = _SEVERAL.sub(lambda found: "\n".join(sorted(found.group().split("\n"))), text)
    return _LOCK.sub(r"\1\2\3 …", text)


def _revision(value: Any, names: _Names) -> Any:
    return names.of("rv", value) if isinstance(value, str) and value.isdigit() else value


def _time(value: Any, names: _Names) -> Any:
    return TIME if isinstance(value, str) else value


def _port(value: Any, names: _Names) -> Any:
    chosen = isinstance(value, int) and value in _CHOSEN_PORTS
    return "port" if chosen else value


def _managers(value: Any, names: _Names) -> Any:
    return sorted((_value(each, names) for each in value), key=str) if value else value


_SPECIAL: dict[str, Callable[[Any, _Names], Any]] = {
    "resourceVersion": _revision,
    "managedFields": _managers,
    "nodePort": _port,
    "healthCheckNodePort": _port,
    **dict.fromkeys(_TIMES, _time),
}
