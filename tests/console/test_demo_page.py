"""The page before the running demo: every panel, and a node that is killed while somebody looks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import patience
from quintant import Config
from quintant.cli.client import open_client
from quintant.die_with_parent import die_with_parent
from quintant.operators import OPERATORS
from quintant.operators.shifu.sample.floor import FAULT, floor_devices
from testbeds.chromium import Viewer, viewer

pytestmark = pytest.mark.asyncio(loop_scope="session")
DEMO = (sys.executable, "-m", "quintant", "demo", "--listen", "127.0.0.1:0")
DEMO_SECONDS = 120.0
READY = "to see it:"
MERGE = {"Content-Type": "application/merge-patch+json"}
DOOMED, UNTOUCHED = "paris", "robot-arm"
"""A node that the demo leaves alive, and a device that is not on it."""


class RunningDemo:
    """The demo, and what it prints when everything runs."""

    def __init__(self, process: subprocess.Popen[str], kubeconfig: Path) -> None:
        self._process, self.kubeconfig = process, kubeconfig

    def wait(self) -> str:
        """The console's address, once every system runs."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(READY):
                return self._process.stdout.readline().strip().rstrip("/")
        raise AssertionError("the demo ended before everything ran")


@pytest.fixture
def demo(installed: str, tmp_path: Path) -> Iterator[RunningDemo]:
    """Every system of the demo; it ends with the test."""
    kubeconfig = tmp_path / "kubeconfig"
    within = f"{patience.seconds(DEMO_SECONDS):.0f}"
    command = die_with_parent((*DEMO, "--within", within, "--kubeconfig", str(kubeconfig)))
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield RunningDemo(process, kubeconfig)
        finally:
            process.terminate()


async def test_every_panel_shows_the_demo_and_devices_of_a_killed_node_are_seen_moving(
    browser: Any, demo: RunningDemo
) -> None:
    url = await asyncio.to_thread(demo.wait)
    async with viewer(browser, url) as looking:
        for name in OPERATORS:
            await looking.open(f"/systems/{name}")
            await looking.page.locator("[role=grid] .canvas .row").first.wait_for()
        await looking.open("/edgemap")
        device = next(name for name, each in floor_devices().items() if each.city == DOOMED)
        await box(looking, DOOMED).locator(chip(device)).wait_for()
        for name in (device, UNTOUCHED):
            await looking.page.locator(chip(name)).evaluate("(chip) => { chip.known = true; }")

        async with open_client(Config.load(demo.kubeconfig), "kubectl-annotate") as client:
            body = msgspec.json.encode({"metadata": {"annotations": {FAULT: "dead"}}})
            await client.raw("PATCH", f"/api/v1/nodes/{DOOMED}", body=body, headers=MERGE)

        await looking.page.locator(f".box:not(:has-text('{DOOMED}')) {chip(device)}").wait_for(
            timeout=1000 * patience.seconds(DEMO_SECONDS)
        )
        for name in (device, UNTOUCHED):
            assert await looking.page.locator(chip(name)).evaluate("(chip) => chip.known")
        moves = looking.page.get_by_role("region", name="Moves and evacuations")
        await moves.get_by_text(device).first.wait_for()


def box(looking: Viewer, node: str) -> Any:
    return looking.page.locator(".box", has_text=node)


def chip(device: str) -> str:
    return f".chip[data-key='device/devices/{device}']"
