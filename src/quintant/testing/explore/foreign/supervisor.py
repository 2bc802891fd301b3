"""Keeps a foreign program running: a life after the other, and a standby where one is wanted.

A life that was killed held its locks until they ran out; nothing of what is explored comes of that
wait, so the locks are released at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.client.request_info import ResourcePath
from quintant.client.rest import MERGE
from quintant.client.transport import ApiRequest, Transport
from quintant.core.clock import monotonic
from quintant.testing.explore.foreign.gateway import Gateway
from quintant.testing.explore.foreign.points import LEADER, LEASES
from quintant.testing.explore.foreign.program import ForeignCommand, ProgramLife
from quintant.testing.explore.injection.subjects import table_of
from quintant.testing.explore.injection.supervisor import MOST_ENDS, CrashLoop
from quintant.testing.explore.injection.trace import Trace
from quintant.wire.foreign import MalformedInput, decode_json

RESTART_SECONDS = 1.0
"""Of the operator's clock, before a process that ended by itself is started again."""


MOST_LOCK = 8 * 1024 * 1024
"""Bytes of an object that is a lock: the server stores less."""


class ProgramSupervisor:
    """Keeps one program running until it is cancelled."""

    def __init__(
        self,
        gateway: Gateway,
        admin: Transport,
        command: ForeignCommand,
        variables: Mapping[str, str],
        trace: Trace,
        replicas: int = 1,
    ) -> None:
        self._gateway, self._admin, self._trace = gateway, admin, trace
        self._command, self._variables, self._replicas = command, variables, replicas
        self.lives: list[ProgramLife] = []
        """Every life so far."""
        self.ends: list[ProgramLife] = []
        """Those that ended by themselves."""
        self.started: float = monotonic()
        """When the last one began."""
        self._stopped = False

    @property
    def working(self) -> list[ProgramLife]:
        """The lives that run and can be reached."""
        return [life for life in self.lives if life.working]

    @property
    def elections(self) -> bool:
        """Whether the program elects a leader."""
        return any(life.elections for life in self.lives)

    async def run(self) -> None:
        """Run it until cancelled; then nothing of it is left."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._replicas):
                    group.create_task(self._keep())
        finally:
            for life in self.lives:
                life.kill()
            for life in self.lives:
                await asyncio.shield(life.end())

    def crash(self, program: int) -> None:
        """Kill every process of the program; each is started again."""
        for life in self.lives:
            life.kill()

    def output(self) -> list[str]:
        """What all lives printed, as far as it was kept."""
        return [line for life in self.lives for line in life.output]

    async def _keep(self) -> None:
        while True:
            life = ProgramLife(len(self.lives), self._gateway.send)
            kubeconfig = self._gateway.admit(life)
            self.lives.append(life)
            self.started = monotonic()
            await life.start(self._command, kubeconfig, self._variables)
            await life.ended.wait()
            await life.end()
            if life.code is not None:
                self._note_end(life)
                await asyncio.sleep(RESTART_SECONDS)
            for lock in sorted(life.elections, key=str):
                await self._release(lock, life.identities)
            self._trace.tell("  the program starts again")

    def _note_end(self, life: ProgramLife) -> None:
        self._trace.tell(f"  the program ends by itself with code {life.code}")
        self.ends.append(life)
        if len(self.ends) >= MOST_ENDS:
            raise CrashLoop(
                f"it ended {len(self.ends)} times by itself, at last with code {life.code}: "
                f"{life.last_lines()}"
            )

    async def _release(self, lock: ResourcePath, identities: set[str]) -> None:
        """Let somebody else hold a lock that a life held; who has it by now keeps it."""
        root = f"/apis/{lock.group}/{lock.version}" if lock.group else f"/api/{lock.version}"
        path = f"{root}/namespaces/{lock.namespace}/{lock.plural}/{lock.name}"
        document = await self._read(path)
        if table_of(lock) == LEASES:
            held = document.get("spec") or {}
            change: object = {"spec": {"holderIdentity": ""}}
        else:
            held = _annotated(document)
            text = msgspec.json.encode({**held, "holderIdentity": ""}).decode()
            change = {"metadata": {"annotations": {LEADER: text}}}
        if not held.get("holderIdentity") or held["holderIdentity"] not in identities:
            return
        body = msgspec.json.encode(change)
        await self._admin.request(ApiRequest("PATCH", path, {}, {"content-type": MERGE}, body))

    async def _read(self, path: str) -> dict[str, Any]:
        answer = await self._admin.request(ApiRequest("GET", path))
        document = decode_json(answer.body, most=MOST_LOCK) if answer.status == 200 else {}
        return document if isinstance(document, dict) else {}


def _annotated(document: dict[str, Any]) -> dict[str, Any]:
    """What the annotation of a lock says; nothing if it says nothing that can be read."""
    annotations = document.get("metadata", {}).get("annotations") or {}
    try:
        held = decode_json(annotations.get(LEADER, "{}"))
    except MalformedInput:
        return {}
    return held if isinstance(held, dict) else {}
