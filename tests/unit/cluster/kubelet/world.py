"""A node under virtual time: the real agent and API server, a process table that is made up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any

from quintant.api.container import GRPCAction, HTTPGetAction, TCPSocketAction
from quintant.api.quantity import Quantity
from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions, ExecProcess
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.common.pod_ips import PodIPs
from quintant.cluster.component.component import Component, run_component
from quintant.cluster.kubelet.container.images import ImageProgram, Images
from quintant.cluster.kubelet.kubelet import Kubelet
from quintant.cluster.kubelet.logs.files import OutputSink
from quintant.cluster.kubelet.node_context import NodeContext, NodePolicy
from quintant.cluster.kubelet.process.protocols import HandlerResult, Launch, ProgramNotFound
from quintant.core.address import BindAddress
from quintant.core.clock import AdvancedClock, LoopClock, Random
from quintant.runtime.manager.manager import Manager
from unit.cluster.api import PODS, Api, JsonObject, server

IMAGE = "example/program"
API = BindAddress("127.0.0.1", 7443)


@dataclass(eq=False)
class FakeProcess:
    """A program that does what a test tells it."""

    pid: int
    launch: Launch
    sink: OutputSink
    stubborn: bool = False
    """Whether it ignores SIGTERM."""
    stdin: None = None
    signals: list[int] = field(default_factory=list)
    _ended: asyncio.Future[int] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def alive(self) -> bool:
        return not self._ended.done()

    def signal(self, number: int) -> None:
        if self.alive:
            self.signals.append(number)
            if number == SIGKILL or (number == SIGTERM and not self.stubborn):
                self.end(-number)

    def end(self, code: int) -> None:
        if self.alive:
            self._ended.set_result(code)

    def say(self, text: str) -> None:
        self.sink.write("stdout", text.encode())

    async def ended(self) -> int:
        return await asyncio.shield(self._ended)


@dataclass
class FakeProcesses:
    """The process table of a test."""

    started: list[FakeProcess] = field(default_factory=list)
    born: Callable[[FakeProcess], None] = lambda process: None
    """What happens to each new process."""
    missing: bool = False

    async def start(self, launch: Launch, sink: OutputSink) -> FakeProcess:
        await asyncio.sleep(0)
        if self.missing:
            raise ProgramNotFound("not there")
        process = FakeProcess(1000 + len(self.started), launch, sink)
        self.started.append(process)
        self.born(process)
        return process

    async def exec(
        self, launch: Launch, options: ExecOptions, group: asyncio.TaskGroup
    ) -> ExecProcess:
        """No session: those are tried with real processes."""
        raise ProgramNotFound("not there")

    @property
    def alive(self) -> list[FakeProcess]:
        return [process for process in self.started if process.alive]

    @property
    def newest(self) -> FakeProcess:
        return self.started[-1]


@dataclass
class FakeProber:
    """Answers by the path or port that is asked."""

    bad: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    async def http(
        self, address: str, port: int, get: HTTPGetAction, timeout: float
    ) -> HandlerResult:
        return self._answer(get.path)

    async def tcp(
        self, address: str, port: int, connect: TCPSocketAction, timeout: float
    ) -> HandlerResult:
        return self._answer(str(port))

    async def grpc(self, address: str, port: int, ask: GRPCAction, timeout: float) -> HandlerResult:
        return self._answer(str(port))

    def _answer(self, word: str) -> HandlerResult:
        self.asked.append(word)
        return HandlerResult(False, f"{word} is bad") if word in self.bad else HandlerResult(True)


class World:
    """A cluster with one node, and a test that may do everything."""

    kubelet: Kubelet
    """The one at work."""

    def __init__(self, folder: Path, *, host_paths: bool = False) -> None:
        self.server = server(rbac=True)
        self.server.tokens.add("root", admin("root"))
        self.api = Api(self.server, "root")
        self.processes, self.prober = FakeProcesses(), FakeProber()
        self.clock = AdvancedClock(LoopClock())
        self.node = NodeContext(
            folder / "node",
            folder / "storage",
            API,
            Images(
                (
                    ImageProgram(image=IMAGE, argv=("/bin/true",)),
                    ImageProgram(image=IMAGE, command="*"),
                )
            ),
            PodIPs(IPv4Network("127.42.0.0/16")),
            self.processes,
            self.prober,
            self.clock,
            Random(1),
            NodePolicy(host_paths),
            "mark",
            {"PATH": "/usr/bin:/bin"},
            {"cpu": Quantity("4"), "memory": Quantity("8Gi")},
        )

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[Kubelet]:
        """The agent, at work."""
        await self.api.send("POST", "/api/v1/nodes", {"metadata": {"name": "local"}})
        async with asyncio.TaskGroup() as group:
            kubelet = self.kubelet = Kubelet(self.node, group)
            manager = Manager("node:local")
            kubelet.declare(manager)
            self.server.logs.providers[:] = [kubelet]
            component = Component(manager, ("system:nodes",))
            clock, random = LoopClock(), Random(2)
            async with run_component(self.server, component, clock, random):
                yield kubelet
            await kubelet.close()

    async def run(self, name: str = "a", *containers: JsonObject, **spec: Any) -> JsonObject:
        """Create a pod on the node, and let what is due happen."""
        listed = [{"image": IMAGE, **each} for each in containers] or [container()]
        for each in spec.get("initContainers", ()):
            each.setdefault("image", IMAGE)
        whole = {"nodeName": "local", "containers": listed, **spec}
        await self.api.create(PODS, {"metadata": {"name": name}, "spec": whole})
        return await self.pod(name)

    async def pod(self, name: str = "a", *, after: float = 0.01) -> JsonObject:
        """A pod as it is after some time."""
        await asyncio.sleep(after)
        return await self.api.get(f"{PODS}/{name}")

    async def gone(self, name: str = "a") -> bool:
        return (await self.api.send("GET", f"{PODS}/{name}")).status == 404

    async def events(self, reason: str) -> list[str]:
        """What events say, by their reason."""
        await asyncio.sleep(0.1)
        listed = await self.api.get("/api/v1/namespaces/default/events")
        return [each["message"] for each in listed["items"] if each["reason"] == reason]


def container(name: str = "main", **more: Any) -> JsonObject:
    return {"name": name, "image": IMAGE, **more}


def status(pod: JsonObject, name: str = "main") -> JsonObject:
    """The status of a container."""
    known = pod["status"]
    every = [*known.get("initContainerStatuses", ()), *known["containerStatuses"]]
    found: JsonObject = next(each for each in every if each["name"] == name)
    return found


def condition(pod: JsonObject, type: str) -> JsonObject:
    found: JsonObject = next(each for each in pod["status"]["conditions"] if each["type"] == type)
    return found


def text(path: str) -> str:
    """What a program reads at a path."""
    return Path(path).read_text()


def write(path: str, content: str) -> None:
    """Write a file as a program does."""
    Path(path).write_text(content)


def real(path: Path) -> Path:
    """Where a path leads."""
    return path.resolve()
