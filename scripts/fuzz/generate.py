"""Random sequences of steps, each a function of its seed.

Most steps are what a client would do; some say what no server accepts. Two names, three managers
and small pools of values make writers meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from fuzz.steps import REVISION, UID, Step
from fuzz.subjects import BAD_METADATA, BARE_METADATA, LABELS, METADATA, JsonObject, Pool, Subject
from fuzz.widgets import SUBJECTS

NAMES = ("a", "a", "b")
MANAGERS = ("one", "two", "three", "")
VERBS = {"apply": 24, "merge": 14, "create": 13, "json": 12, "strategic": 12, "put": 12}
VERBS |= {"delete": 7, "list": 3, "get": 2, "sweep": 1}
"""How often each verb comes: apply most, for it has most to go wrong."""
SELECTORS = ("app=a", "app!=a", "app in (a,b),!tier", "tier", "app notin (b)", "app==a,tier=x")
BAD_SHARE = 0.05
"""Of the values, how many are ones that no server should take."""
METADATA_SHARE = 0.3
GONE_SHARE = 0.2
"""Of the values of a merge, how many are null: take the field away."""
FIRST_SIZE = 4
"""The first replicas that are asked for through a scale: more than any pool has."""
STATUS_SHARE, SCALE_SHARE = 0.15, 0.06
_OPERATIONS = ("add", "add", "replace", "replace", "remove", "test", "copy", "move")
_POLICIES = ("Background", "Foreground", "Orphan", "Other")


def sequence(seed: int, length: int, kinds: Sequence[str] = ()) -> list[Step]:
    """The steps of a seed, on one or two kinds of those named, or of all."""
    random = Random(seed)
    chosen = random.sample(
        tuple(kinds) or tuple(SUBJECTS), 1 + (random.random() < 0.2 and len(kinds) != 1)
    )
    maker = _Maker(random, [SUBJECTS[kind] for kind in chosen])
    return [maker.first(), *(maker.step() for _ in range(length - 1))]


class _Maker:
    def __init__(self, random: Random, subjects: list[Subject]) -> None:
        self._random = random
        self._subjects = subjects
        self._sizes = FIRST_SIZE

    def first(self) -> Step:
        subject = self._subjects[0]
        return Step("create", subject.kind, body=self._new(subject, "a"))

    def step(self) -> Step:
        subject = self._random.choice(self._subjects)
        (verb,) = self._random.choices(tuple(VERBS), tuple(VERBS.values()))
        name = self._random.choice(NAMES)
        match verb:
            case "create":
                body = self._new(subject, name)
                return Step(verb, subject.kind, body=body, query=self._options())
            case "delete":
                return Step(verb, subject.kind, name, body=self._deletion(), query=self._dry())
            case "list" | "sweep":
                selector = {"labelSelector": self._random.choice(SELECTORS)}
                return Step(verb, subject.kind, query=selector if self._often(0.7) else {})
            case "get":
                return Step(verb, subject.kind, name, "scale" if self._often(0.3) else "")
        return self._change(verb, subject, name)

    def _change(self, verb: str, subject: Subject, name: str) -> Step:
        lot = self._random.random()
        sub = "status" if lot < STATUS_SHARE else ""
        sub = "scale" if lot > 1 - SCALE_SHARE and subject.scaled else sub
        sub = "" if _apart(verb, subject, sub) else sub
        query = self._options(apply=verb == "apply")
        if verb == "json":
            return Step(verb, subject.kind, name, sub, self._operations(subject, sub), query)
        if verb == "put":
            return self._put(subject, name, sub, query)
        body = self._sparse(subject, sub, verb)
        if verb == "apply":
            body = _over(self._headed(subject, name, sub), body)
        elif self._often(0.05):
            body = _over(body, {"metadata": {"resourceVersion": self._lock()}})
        return Step(verb, subject.kind, name, sub, body, query)

    def _put(self, subject: Subject, name: str, sub: str, query: dict[str, str]) -> Step:
        if self._often(0.75):
            body = self._sparse(subject, sub, "merge")
            return Step("put", subject.kind, name, sub, body, query, live=True)
        body = _over(self._headed(subject, name, sub), self._sparse(subject, sub, "apply"))
        if self._often(0.3):
            body = _over(body, {"metadata": {"resourceVersion": self._lock()}})
        return Step("put", subject.kind, name, sub, body, query)

    def _new(self, subject: Subject, name: str) -> JsonObject:
        labels = {"labels": LABELS} if self._often(0.5) else {}
        return _over(subject.object(name, **labels), self._sparse(subject, "", "apply"))

    def _headed(self, subject: Subject, name: str, sub: str) -> JsonObject:
        """What every applied or replaced document says."""
        if sub == "scale":
            named = {"metadata": {"name": name}}
            return {"apiVersion": "autoscaling/v1", "kind": "Scale", **named}
        whole = subject.object(name)
        return whole if self._often(0.6) else {key: whole[key] for key in list(whole)[:3]}

    def _sparse(self, subject: Subject, sub: str, verb: str) -> JsonObject:
        """A document of a few fields."""
        if sub == "scale":
            return {"spec": {"replicas": self._size()}}
        found: JsonObject = {}
        for place, values in self._places(subject, sub, self._random.choice((0, 1, 1, 2, 3))):
            gone = verb in ("merge", "strategic") and "/" in place and self._often(GONE_SHARE)
            _put_at(found, place.split("/"), None if gone else self._random.choice(values))
        if verb == "strategic" and subject.directives and self._often(0.5):
            place = self._random.choice(tuple(subject.directives))
            _put_at(found, place.split("/"), self._random.choice(subject.directives[place]))
        return found

    def _places(
        self, subject: Subject, sub: str, count: int
    ) -> Iterable[tuple[str, tuple[Any, ...]]]:
        for _ in range(count):
            pool = self._pool(subject, sub)
            place = self._random.choice(tuple(pool))
            yield place, pool[place]

    def _pool(self, subject: Subject, sub: str) -> Pool:
        if sub == "status" and self._often(0.85):
            good, bad = subject.status, subject.bad_status
        elif self._often(METADATA_SHARE):
            good, bad = (BARE_METADATA if subject.custom else METADATA), BAD_METADATA
        else:
            good, bad = subject.good, subject.bad
        return (bad or good) if self._often(BAD_SHARE) else (good or bad)

    def _operations(self, subject: Subject, sub: str) -> list[JsonObject]:
        if sub == "scale":
            return [{"op": "replace", "path": "/spec/replicas", "value": self._size()}]
        return [self._operation(subject, sub) for _ in range(self._random.choice((1, 1, 2, 3)))]

    def _operation(self, subject: Subject, sub: str) -> JsonObject:
        ((place, values),) = self._places(subject, sub, 1)
        if subject.points and not sub and self._often(0.3):
            place = self._random.choice(tuple(subject.points))
            values = subject.points[place]
        word = self._random.choice(_OPERATIONS)
        found: JsonObject = {"op": word, "path": f"/{place}"}
        if word in ("copy", "move"):
            ((source, _),) = self._places(subject, sub, 1)
            found["from"] = f"/{source}"
        elif word != "remove":
            found["value"] = self._random.choice(values)
        return found

    def _options(self, *, apply: bool = False) -> dict[str, str]:
        manager = self._random.choice(MANAGERS)
        query = {"fieldManager": manager} if manager else {}
        if apply and not manager and self._often(0.9):
            query = {"fieldManager": "one"}
        if apply and self._often(0.3):
            query["force"] = "true"
        if self._often(0.1):
            query["fieldValidation"] = self._random.choice(("Strict", "Warn", "Ignore"))
        return query | self._dry()

    def _dry(self) -> dict[str, str]:
        return {"dryRun": "All"} if self._often(0.04) else {}

    def _deletion(self) -> JsonObject | None:
        match self._random.randrange(6):
            case 0:
                return {"propagationPolicy": self._random.choice(_POLICIES)}
            case 1:
                return {"preconditions": {"uid": self._random.choice((UID, UID, "12345678"))}}
            case 2:
                return {"preconditions": {"resourceVersion": self._lock()}}
            case 3:
                return {"gracePeriodSeconds": self._random.choice((0, 1, 30))}
        return None

    def _lock(self) -> str:
        return REVISION if self._often(0.6) else "1"

    def _size(self) -> int:
        """Replicas that no object has yet: a real server loses track of who owns them otherwise."""
        self._sizes += 1
        return -1 if self._often(0.1) else self._sizes

    def _often(self, share: float) -> bool:
        return self._random.random() < share


def _apart(verb: str, subject: Subject, sub: str) -> bool:
    """What a real server does by mistake, so that the embedded one need not do it."""
    creates = sub == "status" and verb in ("put", "apply") and subject.creates_status
    return creates or (sub == "scale" and verb == "apply" and subject.custom)


def _over(one: JsonObject, other: JsonObject) -> JsonObject:
    """Two documents in one; where both say something, the other is right."""
    merged = dict(one)
    for key, value in other.items():
        below = merged.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        merged[key] = _over(below, value) if both and below else value
    return merged


def _put_at(document: JsonObject, place: Sequence[str], value: Any) -> None:
    """Write a value at a place, in place, through maps that are made where none are."""
    for name in place[:-1]:
        below = document.get(name)
        document[name] = dict(below) if isinstance(below, dict) else {}
        document = document[name]
    document[place[-1]] = value
