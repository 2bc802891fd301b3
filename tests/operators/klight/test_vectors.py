"""The stacks that the original's own tests end with, its one flaw aside: no pod is in one twice."""

from __future__ import annotations

import pytest

from quintant.api.core import Pod
from testbeds.klight import KlightTestbed, Mood


async def play(testbed: KlightTestbed, steps: str) -> None:
    """`a81` lets a pod's peer run and be looked at, `s81` stops it and has it looked at."""
    lives: dict[str, int] = {}
    for step in steps.split():
        network, _, word = step.rpartition(":")
        name = f"p{word[1:]}"
        if word[0] == "a" and name not in lives:
            lives[name] = 1
            await testbed.pod(name, network or "net1", peer={})
        elif word[0] == "a":
            lives[name] += 1
            pod = await testbed.cluster.get(Pod, name)
            testbed.peers.add(await testbed.address(name))
            await testbed.run(name, pod.status.pod_ip, life=lives[name])
        else:
            testbed.peers.kill(await testbed.address(name))
            assert testbed.peers.models[await testbed.address(name)].mood is Mood.DEAD
        await testbed.cluster.advance(3)


@pytest.mark.parametrize(
    ("steps", "stacks"),
    [
        (
            "a81 a82 net4:a83 net2:a84",
            {"net1": ["p82", "p81"], "net4": ["p83"], "net2": ["p84"]},
        ),
        ("a81 a82 s82 a83", {"net1": ["p83", "p81"]}),
        ("a81 a82 s82 a83 a82", {"net1": ["p82", "p83", "p81"]}),
        (
            "a81 a82 s82 a83 net2:a84 net2:a85 net2:s84 net2:a84 net2:s84 net2:a84 a82",
            {"net1": ["p82", "p83", "p81"], "net2": ["p84", "p85"]},
        ),
    ],
)
async def test_stacks_end_as_the_originals_do(
    testbed: KlightTestbed, steps: str, stacks: dict[str, list[str]]
) -> None:
    await testbed.start()
    await play(testbed, steps)
    assert {name: await testbed.stack(name) for name in stacks} == stacks
