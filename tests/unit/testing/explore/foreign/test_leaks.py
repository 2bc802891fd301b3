"""A panic and a secret are noticed in what a program prints."""

from __future__ import annotations

import base64

import pytest

from quintant.api.core import ConfigMap, Secret
from quintant.testing import InProcessCluster, named
from quintant.testing.explore.foreign.leaks import leaked_secrets, panic_in
from quintant.testing.explore.simulation.objects import ObjectView


@pytest.mark.parametrize(
    "line",
    [
        "panic: runtime error: invalid memory address",
        "thread 'main' panicked at src/main.rs:3",
        "Fatal Python error: Segmentation fault",
        'E0101 controller.go:1 "Observed a panic" controller="x"',
    ],
)
def test_a_panic_is_noticed(line: str) -> None:
    assert panic_in(["started", line]) == [f"the program crashed by itself: {line}"]


def test_an_error_that_is_handled_is_no_panic() -> None:
    assert (
        panic_in(["Traceback (most recent call last):", "kopf: handler failed; will retry"]) == []
    )


async def leaks(cluster: InProcessCluster, *printed: str) -> list[str]:
    """What is leaked of a Secret that is made after a ConfigMap was there."""
    await cluster.client.create(ConfigMap(metadata=named("broker-of-all"), data={}))
    base = cluster.server.snapshot()
    words = {"provider": b"broker-of-all", "password": b"hunter-hunter"}
    data = {key: base64.b64encode(word).decode() for key, word in words.items()}
    await cluster.client.create(Secret(metadata=named("user"), data=data))
    return list(leaked_secrets(ObjectView(cluster.server), base, printed))


async def test_a_secret_that_is_printed_is_named(cluster: InProcessCluster) -> None:
    found = await leaks(cluster, "it is hunter-hunter")
    assert found == ["password of secret default/user is in what the program prints"]


async def test_what_stood_openly_in_the_cluster_before_is_no_secret(
    cluster: InProcessCluster,
) -> None:
    assert await leaks(cluster, "starting broker-of-all") == []
