"""HandlerRunner, execProber: commands beside a container: exec probes, and lifecycle hooks.

None of them raises; what goes wrong is an outcome, worded as a kubelet words it.
"""

from __future__ import annotations

import asyncio
import shlex
from signal import SIGKILL

from msgspec import Struct

from quintant.api.container import ExecAction, LifecycleHandler
from quintant.cluster.kubelet.container.command import ContainerRuntimeConfig, exec_command
from quintant.cluster.kubelet.node_context import NodeContext
from quintant.cluster.kubelet.probe.loop import resolve_port
from quintant.cluster.kubelet.process.protocols import HandlerResult, Launch, StartError

OUTPUT_BYTES = 10 * 1024
"""How much of a command's output is told."""


class LimitedOutput:
    """Keeps the beginning of an output."""

    def __init__(self) -> None:
        self.data: bytes = b""

    def write(self, stream: str, data: bytes) -> None:
        self.data = (self.data + data)[:OUTPUT_BYTES]

    def close(self) -> None:
        """Nothing to let go of."""

    @property
    def text(self) -> str:
        return self.data.decode(errors="replace").rstrip("\n")


class HandlerRunner(Struct, frozen=True):
    """What can be done beside a container that runs."""

    node: NodeContext
    config: ContainerRuntimeConfig
    hostname: str
    address: str

    async def execute(self, action: ExecAction, timeout: float | None) -> HandlerResult:
        """Run a command in the container's place."""
        try:
            launch = exec_command(self.node, self.config, action, self.hostname)
            return await self._run(launch, action, timeout)
        except StartError as error:
            return HandlerResult(False, str(error), str(error))

    async def run_handler(self, hook: LifecycleHandler, timeout: float | None) -> HandlerResult:
        """Do what a hook says."""
        if hook.exec:
            return await self.execute(hook.exec, timeout)
        if hook.sleep:
            seconds = float(hook.sleep.seconds)
            await asyncio.sleep(seconds if timeout is None else min(seconds, timeout))
            return HandlerResult(True)
        wait = float(_FOREVER) if timeout is None else timeout
        prober, container = self.node.prober, self.config.container
        if hook.http_get:
            port = resolve_port(container, hook.http_get.port)
            return await prober.http(self.address, port, hook.http_get, wait)
        if hook.tcp_socket:
            port = resolve_port(container, hook.tcp_socket.port)
            return await prober.tcp(self.address, port, hook.tcp_socket, wait)
        return HandlerResult(True)

    async def _run(
        self, launch: Launch, action: ExecAction, timeout: float | None
    ) -> HandlerResult:
        output = LimitedOutput()
        process = await self.node.processes.start(launch, output)
        code: int | None = None
        try:
            async with asyncio.timeout(timeout):
                code = await process.ended()
        except TimeoutError:
            text = shlex.join(action.command)
            return HandlerResult(False, f'command timed out: "{text}" timed out after {timeout:g}s')
        finally:
            if code is None:
                process.signal(SIGKILL)
                await process.ended()
        return HandlerResult(code == 0, output.text)


_FOREVER = 24 * 3600
"""For a hook without a limit of its own; the container's life is one."""
