"""Play steps on a server, and write down everything it says: answers, warnings, watch events.

Before the first step two watches are opened per kind, one of everything and one by label; after
the last, an object that ends them is made. The record is raw: `fuzz.normalize` makes it comparable.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from fuzz.steps import COLLECTION, MEDIA, METHODS, REVISION, UID, Step, filled
from fuzz.subjects import LABELS, Subject
from fuzz.widgets import SUBJECTS
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.cluster.apiserver.patch.merge_patch import merge_patch

LAST = "zz-last"
"""The name of the object whose event ends a watch."""
WATCH_SECONDS = 30.0
"""How long the events of a sequence may take to arrive."""
UNSEEN = "00000000-0000-0000-0000-000000000000"

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one step."""

    code: int
    body: Any
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """What a server said to a sequence."""

    answers: list[Answer] = field(default_factory=list)
    events: dict[str, list[JsonObject]] = field(default_factory=dict)
    """By kind and selector."""


@dataclass(frozen=True, slots=True)
class Player:
    """A server, and an empty namespace of it that only this sequence uses."""

    transport: Transport
    namespace: str

    async def play(self, steps: Sequence[Step]) -> Record:
        """Send every step; the whole record."""
        record, seen = Record(), _Seen()
        subjects = [SUBJECTS[kind] for kind in dict.fromkeys(step.kind for step in steps)]
        await self._send(ApiRequest("POST", "/api/v1/namespaces", body=self._space()))
        async with AsyncExitStack() as stack:
            watches = [await stack.enter_async_context(self._watches(each)) for each in subjects]
            for step in steps:
                record.answers.append(await self._step(step, seen))
            for subject in subjects:
                await self._post(subject, subject.object(LAST, labels=LABELS))
            for each in watches:
                record.events.update({place: await _told(chunks) for place, chunks in each.items()})
        return record

    async def clear(self, steps: Sequence[Step]) -> None:
        """Remove what a sequence left that others could meet: addresses and ports."""
        for kind in {step.kind for step in steps} & {"Service"}:
            subject = SUBJECTS[kind]
            for name in ("a", "b"):
                free = msgspec.json.encode({"metadata": {"finalizers": None}})
                headers = {"content-type": MEDIA["merge"]}
                path = subject.path(self.namespace, name)
                await self._send(ApiRequest("PATCH", path, {}, headers, free))
                await self._send(ApiRequest("DELETE", path))
            await self._send(ApiRequest("DELETE", subject.path(self.namespace, LAST)))

    async def _step(self, step: Step, seen: _Seen) -> Answer:
        subject = SUBJECTS[step.kind]
        name = "" if step.verb in COLLECTION else step.name
        path = subject.path(self.namespace, name, step.sub)
        body = await self._body(step, path, seen)
        headers = {"content-type": MEDIA.get(step.verb, "application/json")}
        call = ApiRequest(METHODS[step.verb], path, step.query, headers, body)
        answer = _answer(await self._send(call))
        seen.note(step.kind, answer.body)
        return answer

    async def _body(self, step: Step, path: str, seen: _Seen) -> bytes | None:
        if step.body is None:
            return None
        name = step.name or step.body.get("metadata", {}).get("name", "")
        body = filled(step.body, seen.known(step.kind, name))
        if step.live:
            found = await self._send(ApiRequest("GET", path))
            live = msgspec.json.decode(found.body) if found.status == 200 else None
            body = merge_patch(live or _blank(step), body)
        return msgspec.json.encode(body)

    async def _post(self, subject: Subject, obj: JsonObject) -> None:
        call = ApiRequest("POST", subject.path(self.namespace), body=msgspec.json.encode(obj))
        reply = await self._send(replace(call, headers={"content-type": "application/json"}))
        assert reply.status == 201, reply.body

    async def _send(self, call: ApiRequest) -> ApiResponse:
        return await self.transport.request(call)

    def _space(self) -> bytes:
        return msgspec.json.encode({"metadata": {"name": self.namespace}})

    @asynccontextmanager
    async def _watches(self, subject: Subject) -> AsyncIterator[dict[str, ApiStream]]:
        path = subject.path(self.namespace)
        listed = msgspec.json.decode((await self._send(ApiRequest("GET", path))).body)
        since = {"watch": "true", "resourceVersion": listed["metadata"]["resourceVersion"]}
        async with (
            self.transport.stream(ApiRequest("GET", path, since)) as everything,
            self.transport.stream(
                ApiRequest("GET", path, since | {"labelSelector": "app=a"})
            ) as some,
        ):
            yield {f"{subject.kind}": everything, f"{subject.kind} app=a": some}


class _Seen:
    """What a client knows of objects: the uid and revision it was last told."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, str]] = {}

    def note(self, kind: str, body: Any) -> None:
        metadata = body.get("metadata") if isinstance(body, dict) else None
        if metadata and body["kind"] == kind and metadata.get("uid"):
            known = metadata["uid"], metadata.get("resourceVersion", "")
            self._known[kind, metadata["name"]] = known

    def known(self, kind: str, name: str) -> dict[str, str]:
        uid, revision = self._known.get((kind, name), (UNSEEN, "1"))
        return {UID: uid, REVISION: revision}


def _blank(step: Step) -> JsonObject:
    """What a client begins with that finds nothing."""
    if step.sub == "scale":
        named = {"metadata": {"name": step.name}}
        return {"apiVersion": "autoscaling/v1", "kind": "Scale", **named}
    return deepcopy(SUBJECTS[step.kind].object(step.name))


def _answer(reply: ApiResponse) -> Answer:
    try:
        body = msgspec.json.decode(reply.body)
    except msgspec.DecodeError:
        body = reply.body.decode(errors="replace")
    told = reply.headers.get("warning", "").split("299 - ")
    return Answer(reply.status, body, tuple(each.rstrip(", ") for each in told if each))


async def _told(stream: ApiStream) -> list[JsonObject]:
    """The events of a watch until its last object."""
    told: list[JsonObject] = []
    rest = b""
    async with asyncio.timeout(WATCH_SECONDS):
        async for chunk in stream.chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            told += [msgspec.json.decode(line) for line in lines]
            if told and told[-1]["object"]["metadata"].get("name") == LAST:
                return told[:-1]
    return told
