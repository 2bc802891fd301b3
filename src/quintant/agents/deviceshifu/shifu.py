"""A deviceShifu at work: follows its device and its ConfigMap, and has a driver that fits both.

    device --protocol, address or settings changed--> another driver, another session
    ConfigMap --changed--> the same driver, configured anew; readings begin again

Of an exclusive device, the session is let go as `exclusive` says: when the API server cannot be
reached for long, or when it says that the device is elsewhere by now.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from contextlib import aclosing
from datetime import datetime
from random import Random
from typing import Any

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.deviceshifu.config.folder import config_data
from quintant.agents.deviceshifu.config.grammar import understand
from quintant.agents.deviceshifu.config.values import ConfigProblem, DeviceConfig
from quintant.agents.deviceshifu.device import DeviceSpec, DeviceState
from quintant.agents.deviceshifu.device_api import DeviceApi
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.choose import DriverParts, NoDriver, choose
from quintant.agents.deviceshifu.drivers.driver import Driver
from quintant.agents.deviceshifu.exclusive import UNREACHABLE, look_seconds, withheld
from quintant.agents.deviceshifu.health import DeviceHealth, observe, only
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.agents.deviceshifu.report import StatusReporter
from quintant.agents.deviceshifu.telemetry.deliver import Sender
from quintant.agents.deviceshifu.telemetry.poller import Reading, TelemetryPoller
from quintant.agents.deviceshifu.telemetry.push import PushQueue
from quintant.agents.multiplex.program import say

BAD_CONFIG = "BadConfig"

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


class DeviceShifu:
    """One device, served."""

    def __init__(
        self,
        options: AgentOptions,
        api: DeviceApi,
        dialer: DeviceDialer,
        now: Callable[[], datetime],
    ) -> None:
        self._options, self._api, self._dialer, self._now = options, api, dialer, now
        random = Random()
        self._queue = PushQueue(api, Sender(options.name, dialer.guarded()), random)
        self._reporter = StatusReporter(api, now, random)
        self._poller = TelemetryPoller(self._observe, self._queue, now)
        self._state: DeviceState | None = None
        self._served: DeviceSpec | None = None
        self._problems: tuple[ConfigProblem, ...] = ()
        self._withheld = ""
        self._session: list[asyncio.Task[None]] = []
        self._polling: list[asyncio.Task[None]] = []
        self._changing = asyncio.Lock()
        self.config: DeviceConfig = DeviceConfig()
        self.health: DeviceHealth = DeviceHealth()
        self.driver: Driver = NoDriver("the EdgeDevice is not known yet")

    @property
    def readings(self) -> Mapping[str, Reading]:
        """The newest of each telemetry."""
        return self._poller.readings

    @property
    def about(self) -> Mapping[str, Any]:
        """Which device it is."""
        spec = self._served or DeviceSpec()
        return {
            "name": self._options.name, "namespace": self._options.namespace,
            "node": self._options.node, "pid": os.getpid(), "protocol": spec.protocol,
            "queued": len(self._queue), "dropped": self._queue.dropped,
        }  # fmt: skip

    async def run(self) -> None:
        """Serve until cancelled."""
        async with asyncio.TaskGroup() as group:
            try:
                group.create_task(self._reporter.run())
                group.create_task(self._queue.run())
                group.create_task(self._follow_config(group.create_task))
                group.create_task(self._follow_device(group.create_task))
                group.create_task(self._keep_exclusive(group.create_task))
                await asyncio.Event().wait()
            finally:
                await self._end()

    async def _follow_config(self, spawn: Spawn) -> None:
        async with aclosing(config_data(self._options.config)) as found:
            async for data in found:
                config, problems = understand(data)
                if config != self.config:
                    self.config = config
                    await self._restart(spawn)
                await self._tell(problems)

    async def _follow_device(self, spawn: Spawn) -> None:
        async with aclosing(self._api.states()) as states:
            async for state in states:
                first, self._state = self._state is None, state
                if state is None:
                    continue  # deleted: what is composed for it goes by itself
                self._reporter.seen(state)
                if self._withheld != UNREACHABLE:
                    await self._withhold(self._reason(state), spawn)
                if state.spec != self._served and not self._withheld:
                    await self._restart(spawn)
                if first:
                    await self._tell(self._problems, again=True)

    async def _keep_exclusive(self, spawn: Spawn) -> None:
        """Look whether an exclusive device is still ours."""
        loop, release = asyncio.get_running_loop(), self._options.release
        pause, heard = look_seconds(release), loop.time()
        while True:
            await asyncio.sleep(min(pause, max(0.0, heard + release - loop.time()) or pause))
            if self._state is None or not self._state.spec.exclusive:
                heard = loop.time()
                await self._withhold("", spawn)
                continue
            try:
                async with asyncio.timeout(pause):
                    state = await self._api.look()
            except (ApiRefused, ApiUnreachable, TimeoutError):
                if loop.time() - heard >= release:
                    await self._withhold(UNREACHABLE, spawn)
                continue
            heard = loop.time()
            await self._withhold(self._reason(state) if state is not None else "", spawn)

    def _reason(self, state: DeviceState) -> str:
        return withheld(state, self._options.node, self._options.release, self._now())

    async def _withhold(self, reason: str, spawn: Spawn) -> None:
        """Let go of the device, or take it up again where there is no reason."""
        before, self._withheld = self._withheld, reason
        if bool(before) == bool(reason):
            return
        verb = "let go" if reason else "took up"
        say(verb, device=self._options.name, **({"because": reason} if reason else {}))
        if self._state is not None:
            await self._restart(spawn)

    async def _restart(self, spawn: Spawn) -> None:
        """Have the driver that fits by now, and read by the settings of now."""
        async with self._changing:
            await self._change(spawn)

    async def _change(self, spawn: Spawn) -> None:
        wanted = self._state.spec if self._state is not None and not self._withheld else None
        await _cancelled(self._polling)
        if wanted != self._served or not self._session:
            await _cancelled(self._session)
            self._served, self.driver = wanted, self._driver(wanted)
            self.driver.configure(self.config)
            self._session = [spawn(self.driver.run())]
        self.driver.configure(self.config)
        self.health = only(self.health, self._poller.watched(self.driver, self.config))
        if wanted is not None:
            self._polling = [spawn(self._poller.run(self.driver, self.config))]

    def _driver(self, wanted: DeviceSpec | None) -> Driver:
        if wanted is None:
            return NoDriver(f"let go: {self._withheld}" if self._withheld else "unknown")
        return choose(DriverParts(self._options, wanted, self._dialer, self._api))

    async def _end(self) -> None:
        await _cancelled([*self._polling, *self._session])

    def _observe(self, what: str, error: str | None) -> None:
        now = asyncio.get_running_loop().time()
        self.health = observe(self.health, what, error, now)
        self._reporter.observe(self.health, self.driver.busy)

    async def _tell(self, problems: tuple[ConfigProblem, ...], *, again: bool = False) -> None:
        """Say what is wrong with the ConfigMap, once."""
        news = [each for each in problems if again or each not in self._problems]
        self._problems = problems
        for each in news:
            if not again:
                say("bad config", problem=str(each))
            if self._state is None:
                continue
            try:
                await self._api.warn(self._state.uid, BAD_CONFIG, str(each))
            except (ApiRefused, ApiUnreachable) as error:
                say("cannot tell an event", because=str(error))


async def _cancelled(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
