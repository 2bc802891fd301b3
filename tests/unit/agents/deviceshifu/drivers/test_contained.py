"""A driver that fails in a way that nobody thought of."""

from __future__ import annotations

from typing import cast

import pytest

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.drivers.contained import ContainedDriver
from quintant.agents.deviceshifu.drivers.driver import Answer, DeviceError
from quintant.http.request import Request


class SurprisingDriver:
    """Raises what no driver should."""

    counts_readings, busy = True, False
    begun = 0

    def configure(self, config: DeviceConfig) -> None: ...

    async def run(self) -> None:
        self.begun += 1
        if self.begun < 3:
            raise RecursionError("as deep as a device likes")

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        raise IndexError("hunter2")

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        raise KeyError("hunter2")

    async def check(self, seconds: float | None) -> None:
        raise MemoryError


async def test_it_is_the_devices_failure_and_nothing_of_its_text_is_told() -> None:
    driver = ContainedDriver(SurprisingDriver())
    for asking in (
        driver.call(cast(Request, None), Instruction("x")),
        driver.read("x", None),
        driver.check(None),
    ):
        with pytest.raises(DeviceError, match="could not be read: ") as failed:
            await asking
        assert failed.value.status == 502
        assert "hunter2" not in str(failed.value)


async def test_a_session_that_failed_begins_anew() -> None:
    surprising = SurprisingDriver()
    await ContainedDriver(surprising).run()
    assert surprising.begun == 3
