"""A panic and a secret are noticed in what a program prints."""

from __future__ import annotations

import base64

import pytest

from quintant.api.core import ConfigMap, Secret
from quintant.testing import InProcessCluster, named
from quintant.testing.explore.foreign.leaks import SECRETS, SecretValues, panic_in
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


async def made(cluster: InProcessCluster) -> tuple[SecretValues, Secret]:
    """What a run knows of a Secret that is made after a ConfigMap was there."""
    await cluster.client.create(ConfigMap(metadata=named("broker-of-all"), data={}))
    values = SecretValues(cluster.server.snapshot(), [{"kind": "Broker", "user": "administrator"}])
    words = {
        "provider": b"broker-of-all",
        "user": b"administrator",
        "password": b"hunter-hunter",
    }
    data = {key: base64.b64encode(word).decode() for key, word in words.items()}
    secret = await cluster.client.create(Secret(metadata=named("user"), data=data))
    (entry,) = cluster.server.store.table(SECRETS).entries.values()
    values.note("default/user", entry)
    return values, secret


async def leaks(cluster: InProcessCluster, *printed: str) -> list[str]:
    values, _ = await made(cluster)
    return list(values.leaked(ObjectView(cluster.server), printed))


async def test_a_secret_that_is_printed_is_named(cluster: InProcessCluster) -> None:
    found = await leaks(cluster, "it is hunter-hunter")
    assert found == ["password of secret default/user is in what the program prints"]


async def test_a_secret_that_is_gone_at_the_end_was_one_all_the_same(
    cluster: InProcessCluster,
) -> None:
    values, secret = await made(cluster)
    await cluster.client.delete(secret)
    found = list(values.leaked(ObjectView(cluster.server), ["it is hunter-hunter"]))
    assert found == ["password of secret default/user is in what the program prints"]


async def test_a_secret_that_was_there_before_the_program_ran_is_one(
    cluster: InProcessCluster,
) -> None:
    await made(cluster)
    values = SecretValues(cluster.server.snapshot())
    found = list(values.leaked(ObjectView(cluster.server), ["it is hunter-hunter"]))
    assert found == ["password of secret default/user is in what the program prints"]


async def test_what_stood_openly_in_the_cluster_or_a_manifest_before_is_no_secret(
    cluster: InProcessCluster,
) -> None:
    assert await leaks(cluster, "starting broker-of-all as administrator") == []


async def test_what_a_person_is_told_has_no_secret_in_it(cluster: InProcessCluster) -> None:
    values, _ = await made(cluster)
    encoded = base64.b64encode(b"hunter-hunter").decode()
    told = values.hidden(f"broker-of-all printed hunter-hunter and {encoded}")
    name = "<password of secret default/user>"
    assert told == f"broker-of-all printed {name} and {name}"
