"""Rights: nothing is refused, and nothing is held that is not used; and memory (scenarios I)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

import patience
from foreign.process import free_ports
from processes.running import running_command
from processes.usage import MEGABYTE, usage
from quintant.die_with_parent import die_with_parent
from shifu_site.running import shown_site
from testbeds.shifu import ShifuTestbed

DEVICES, NODES = 2000, 50
HELD_MEGABYTES = 63.0
"""An operator at rest has 45. Ten thousand may take 55 more, so these 11; the rest is for machines
that count otherwise, or are busy. Twice as much for each device would be noticed."""
SITE_SECONDS = 60.0


@pytest.mark.realtime
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
async def test_i1_two_thousand_devices_take_a_fifth_of_what_ten_thousand_may(
    tmp_path: Path,
) -> None:
    with shown_site(DEVICES, NODES) as site:
        way = await asyncio.to_thread(site.kubeconfig, tmp_path)
        (free,) = free_ports(1)
        flags = ("--kubeconfig", str(way), "--probes=", f"--metrics=127.0.0.1:{free}")
        operator = [sys.executable, "-m", "quintant", "operator", "shifu", *flags]
        settings = {"EDGEMAP_ADDR": "off", "EDGENODE_MIRROR": "false"}
        with running_command(
            die_with_parent([*operator, "--no-leader-elect"]), env=settings
        ) as program:
            await _counted(f"http://127.0.0.1:{free}/metrics")
            assert usage(program.pid).peak / MEGABYTE < HELD_MEGABYTES


async def _counted(url: str) -> None:
    """Wait until every device was looked at."""
    line = 'controller_runtime_reconcile_total{controller="shifu-controller",result="success"} '
    async with patience.within(SITE_SECONDS):
        while True:
            try:
                with await asyncio.to_thread(urlopen, url) as answer:
                    text = answer.read().decode()
            except OSError:
                text = ""
            done = [each for each in text.splitlines() if each.startswith(line)]
            if done and float(done[0].removeprefix(line)) >= DEVICES:
                return
            await asyncio.sleep(0.2)


async def busy_day(testbed: ShifuTestbed) -> None:
    """Everything that needs a right of its own."""
    await testbed.nodes("n1", "n2")
    for name in ("a", "b"):
        await testbed.device(name)
        await testbed.placed(name)
    await testbed.hint("a", priority="nonsense")
    await testbed.fault("n1", "dead")
    await testbed.cluster.advance(80)
    for name in ("a", "b"):
        await testbed.placed(name, "n2")
    await testbed.client.delete(await testbed.get("a"))
    await testbed.delete_node("n1")
    await testbed.cluster.advance(10)


async def test_i2_every_right_but_single_reads_is_used_and_none_is_missing(
    testbed: ShifuTestbed,
) -> None:
    await busy_day(testbed)

    assert testbed.account is not None
    assert not testbed.account.denied()
    # One object is read live where a cache cannot be asked, or may be behind.
    left = {held for held in testbed.account.unused() if held.verb != "get"}
    assert {(held.resource, held.verb) for held in left} <= {
        ("nodes", "list"),
        ("events", "patch"),
    } | {(each, "list") for each in LISTED}


async def test_i3_no_secret_is_read_and_no_spec_of_a_device_or_node_written(
    testbed: ShifuTestbed,
) -> None:
    await busy_day(testbed)

    assert testbed.account is not None
    asked = testbed.account.requests()
    assert not [each for each in asked if each.resource == "secrets"]
    written = [each for each in asked if each.verb not in ("get", "list", "watch")]
    touched = {each.resource for each in written}
    assert not touched & {"edgedevices", "nodes"}
    assert {"edgedevices/status", "edgenodes/status"} <= touched


LISTED = ("edgedevices", "edgenodes", "deployments", "pods", "services", "configmaps", "nodes")
"""A first state is a stream, where the server can; else a list."""
