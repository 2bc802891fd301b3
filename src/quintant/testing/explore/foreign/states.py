"""What two worlds of a program in real time are compared by, and what differs by itself.

Beside what `simulation.normalise` leaves out: which node a pod is on, its addresses and the ids of
its containers. A copy of the object in an annotation, such as the last one that kopf has handled,
is compared like the object itself. Names that are generated are numbered by what is in the objects,
for their order is chance. What three undisturbed runs do not agree on is left out by its path, and
reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from quintant.testing.explore.foreign.generated_names import OF_TEMPLATES, GeneratedNames
from quintant.testing.explore.foreign.points import LEADER
from quintant.testing.explore.foreign.scenario_file import IgnoredField
from quintant.testing.explore.foreign.specs.states import without_history
from quintant.testing.explore.simulation.normalise import ALLOTTED, Document, Normalised
from quintant.wire.foreign import MalformedInput, decode_json

BY_CHANCE = ("podIP", "podIPs", "hostIP", "hostIPs", "startTime")
"""Of the status of a pod."""
OF_PLACES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""Labels that a pod has of its node."""
OF_CONTAINERS = ("containerID", "imageID")
BESIDE = ("nodes", "csinodes.storage.k8s.io", "endpointslices.discovery.k8s.io", "endpoints")
"""Tables of the cluster itself, or that repeat the addresses of pods."""
LONGEST_VALUE = 160
MOST_COPY = 256 * 1024
"""Bytes of an annotation, as servers have it."""
OF_OBJECTS = frozenset(("metadata", "spec", "status"))
SECRETS = "secrets "
"""How the path of what is never shown begins."""
_NUMBERED = re.compile(r"[a-z0-9.-]*[-.]<\d+>(?:[a-z0-9.-]*[-.]<\d+>)*")
_LAST_NUMBER = re.compile(r"<(\d+)>$")
_TOKEN_VOLUME = re.compile(r"kube-api-access-[a-z0-9]{5}\b")

Path = tuple[str, ...]


class SelfDifference(Struct, frozen=True):
    """Something that undisturbed runs do not agree on."""

    path: Path
    values: tuple[str, ...]

    def shown_by(self, hidden: Sequence[Callable[[str], str]]) -> SelfDifference:
        """The same for people; `hidden` has for each run what takes its secrets out."""
        values = tuple(each(value) for each, value in zip(hidden, self.values, strict=True))
        return SelfDifference(self.path, values)

    def __str__(self) -> str:
        path = ".".join(self.path)
        if path.startswith(SECRETS):
            return f"{path}: another one each time"
        return f"{path}: {' | '.join(self.values)}"


def plain_document(document: Document) -> Document | None:
    """An object without what is chance in a cluster that works; None for what is beside it."""
    plain = _plain(document)
    annotations = _part(plain, "metadata", "annotations")
    for name, text in annotations.items():
        if copy := _copy_in(text):
            annotations[name] = _plain({"kind": plain.get("kind"), **copy})
    return plain


def _copy_in(text: str) -> Document | None:
    """The object that an annotation holds as JSON, if it does."""
    try:
        found = decode_json(text, most=MOST_COPY) if text.startswith("{") else None
    except MalformedInput:
        return None
    return found if isinstance(found, dict) and not OF_OBJECTS.isdisjoint(found) else None


def _copies(document: Document) -> Iterator[Document]:
    """The objects that annotations of one hold."""
    annotations = _part(document, "metadata", "annotations")
    return (each for each in annotations.values() if isinstance(each, dict))


def _plain(document: Document) -> Document:
    # Who leads, and how often that has changed, is no part of the work.
    _part(document, "metadata", "annotations").pop(LEADER, None)
    if document.get("kind") == "ReplicaSet":
        return _plain_replica_set(document)
    if document.get("kind") == "Service":
        return _plain_service(document)
    if document.get("kind") == "PersistentVolume":
        # At which revision it was bound.
        _part(document, "spec", "claimRef").pop("resourceVersion", None)
    return _plain_pod(document) if document.get("kind") == "Pod" else document


def _part(document: Document, *path: str) -> Document:
    """A part of an object: an empty one where it has none, or something else in its place."""
    found = _at(document, path)
    return found if isinstance(found, dict) else {}


def _plain_replica_set(document: Document) -> Document:
    for path in ((), ("spec", "template")):
        _part(document, *path, "metadata", "labels").pop(OF_TEMPLATES, None)
    _part(document, "spec", "selector", "matchLabels").pop(OF_TEMPLATES, None)
    return document


def _plain_service(document: Document) -> Document:
    spec = _part(document, "spec")
    for field in ALLOTTED:
        spec.pop(field, None)
    if isinstance(ports := spec.get("ports"), list):
        # They are known by their numbers: in which order they come says nothing.
        spec["ports"] = sorted(ports, key=lambda it: msgspec.json.encode(it, order="sorted"))
    return document


def _plain_pod(document: Document) -> Document:
    for name in (OF_TEMPLATES, *OF_PLACES):
        _part(document, "metadata", "labels").pop(name, None)
    _part(document, "spec").pop("nodeName", None)
    status = _part(document, "status")
    for name in BY_CHANCE:
        status.pop(name, None)
    for part in ("containerStatuses", "initContainerStatuses"):
        containers = status.get(part, ())
        for each in containers if isinstance(containers, list) else ():
            for name in OF_CONTAINERS if isinstance(each, dict) else ():
                each.pop(name, None)
    text = msgspec.json.encode(document).decode()
    made: Document = msgspec.json.decode(_TOKEN_VOLUME.sub("kube-api-access", text))
    return made


def comparable(
    state: Normalised,
    names: GeneratedNames,
    ignored: Sequence[IgnoredField] = (),
    *,
    history: bool = True,
) -> Normalised:
    """A world, with generated names numbered by what is in the objects."""
    kept = {t: d for t, d in state.items() if t.partition(" ")[0] not in BESIDE}
    kept = kept if history else without_history(kept)
    text = msgspec.json.encode(kept).decode()
    for (_, _, name), numbered in sorted(names.numbers.items(), key=lambda it: -len(it[0][2])):
        text = text.replace(name, numbered)
    made: Normalised = msgspec.json.decode(text)
    return _without_ignored(_renumbered(made), ignored)


def _renumbered(state: Normalised) -> Normalised:
    """The numbers of generated names in the order of what they stand for."""
    contents: dict[str, list[str]] = {}
    for title, document in state.items():
        if found := _NUMBERED.search(title):
            text = msgspec.json.encode({title: document}, order="sorted").decode()
            contents.setdefault(found[0], []).append(_NUMBERED.sub("<*>", text))
    renamed = _renamed(contents)
    text = msgspec.json.encode(state).decode()
    text = _NUMBERED.sub(lambda match: renamed.get(match[0]) or _gone(match[0], renamed), text)
    made: Normalised = msgspec.json.decode(text)
    return dict(sorted(made.items()))


def _renamed(contents: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """New numbers for names: first those that others begin with, by all that is below them."""

    def below(name: str) -> tuple[list[str], str]:
        inner = [texts for each, texts in contents.items() if each.startswith(name)]
        return sorted(text for texts in inner for text in texts), name

    renamed: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for name in sorted(sorted(contents, key=below), key=lambda it: it.count("<")):
        stem = _LAST_NUMBER.sub("", name)
        counts[stem] += 1
        renamed[name] = f"{_head(stem, renamed)}<{counts[stem]}>"
    return renamed


def _head(stem: str, renamed: Mapping[str, str]) -> str:
    """The beginning of a name, with what is known of it by its new number."""
    last = stem.rfind(">") + 1
    return renamed.get(stem[:last], stem[:last]) + stem[last:]


def _gone(name: str, renamed: Mapping[str, str]) -> str:
    """How a name is written that no object has."""
    return _head(_LAST_NUMBER.sub("", name), renamed) + "<gone>"


def self_differences(runs: Sequence[Sequence[Normalised]]) -> list[SelfDifference]:
    """What undisturbed runs do not agree on, step by step."""
    found: dict[Path, SelfDifference] = {}
    for states in zip(*runs, strict=False):
        for path in dict.fromkeys(p for other in states[1:] for p in _differing(states[0], other)):
            values = tuple(_text(_at(state, path)) for state in states)
            found.setdefault(path, SelfDifference(path, values))
    return list(found.values())


def masked(state: Normalised, paths: Sequence[Path]) -> Normalised:
    """A world without what is at some paths."""
    made: Normalised = msgspec.json.decode(msgspec.json.encode(state))
    for path in paths:
        _remove_everywhere(made, path[0], path[1:])
    return made


def _differing(left: Any, right: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            if key not in left or key not in right:
                yield (*path, key)
            else:
                yield from _differing(left[key], right[key], (*path, key))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from _differing(one, other, (*path, str(number)))
    elif left != right:
        yield path


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _remove(value: Any, path: Path) -> None:
    holder, last = _at(value, path[:-1]), path[-1]
    if isinstance(holder, dict):
        holder.pop(last, None)
    elif isinstance(holder, list) and last.isdigit() and int(last) < len(holder):
        holder[int(last)] = "<differs>"


def _remove_everywhere(state: Normalised, title: str, path: Path) -> None:
    """Remove a part of an object and of its copies in annotations; without a path all of it."""
    if not path:
        state.pop(title, None)
        return
    document = state.get(title, {})
    for each in (document, *_copies(document)):
        _remove(each, path)


def _without_ignored(state: Normalised, ignored: Sequence[IgnoredField]) -> Normalised:
    for each in ignored:
        for title in list(state):
            if each.kind and title.partition(" ")[0] != each.kind:
                continue
            if each.field == "*":
                del state[title]
            else:
                _remove_everywhere(state, title, tuple(each.field.split(".")))
    return state


def _text(value: Any) -> str:
    if value is None:
        return "absent"
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"


Normalise = Callable[[Document], Document | None]
