"""What a runnable raises is its own failure, and not the process's."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from quintant import Context, Manager
from quintant.api.core import ConfigMap
from quintant.core.errors import AddressInUse, ConfigError, leaf_errors
from quintant.runtime.cache.client import Client
from quintant.runtime.manager.health import ProbeKind
from quintant.testing import InProcessCluster, named
from quintant.testing.loop import advance


class Poller:
    """A runnable that an answer from outside makes stumble."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
        self.calls = 0

    async def __call__(self, client: Client) -> None:
        self.calls += 1
        await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error
        await asyncio.Future()


def managed(poller: Poller, reconciled: list[str], *, leader: bool = False) -> Manager:
    async def reconcile(config: ConfigMap, ctx: Context[ConfigMap]) -> None:
        reconciled.append(config.metadata.name)

    manager = Manager("example", leader_elect=leader)
    manager.controls(ConfigMap).reconcile(reconcile)
    manager.add(poller, leader=leader)
    return manager


@pytest.mark.parametrize("leader", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        RecursionError("deep"),
        KeyError("odd"),
        OSError("away"),
        asyncio.CancelledError(),
    ],
)
async def test_process_outlives_a_runnable_that_raises(
    cluster: InProcessCluster, error: BaseException, leader: bool
) -> None:
    poller, reconciled = Poller(error), list[str]()
    with capture_logs() as logs:
        engine = await cluster.run(managed(poller, reconciled, leader=leader))
        await cluster.advance(600)
    await cluster.create(ConfigMap(metadata=named("a")))
    await cluster.advance(1)
    assert reconciled == ["a"]
    assert 10 < poller.calls < 20
    assert len([each for each in logs if each["log_level"] == "error"]) == 1
    line = f'quintant_runnable_failures_total{{runnable="Poller"}} {poller.calls}.0'
    assert line in engine.metrics.render().decode()


async def test_an_address_that_is_taken_is_one_warning_in_its_own_words(
    cluster: InProcessCluster,
) -> None:
    poller = Poller(AddressInUse("cannot listen on 127.0.0.1:8090", because="it is in use"))
    with capture_logs() as logs:
        await cluster.run(managed(poller, []))
        await cluster.advance(600)
    assert 10 < poller.calls < 20
    (line,) = [each for each in logs if each["log_level"] in ("warning", "error")]
    assert line["log_level"] == "warning"
    assert "cannot listen on 127.0.0.1:8090" in line["why"]
    assert "exc_info" not in line


async def test_runnable_that_waits_to_be_begun_again_is_named_and_the_process_is_ready(
    cluster: InProcessCluster,
) -> None:
    poller = Poller(KeyError("odd"))
    engine = await cluster.run(managed(poller, []))
    await cluster.advance(30)
    report = await engine.health.run_checks(ProbeKind.READINESS)
    assert report.ok
    (note,) = [each.note for each in report.results if each.name == "runnables"]
    assert note == "Poller: KeyError: 'odd'"
    poller.error = None
    await cluster.advance(61)
    report = await engine.health.run_checks(ProbeKind.READINESS)
    assert [each.note for each in report.results if each.name == "runnables"] == [""]


async def test_runnable_that_raises_before_it_waited_for_anything_ends_the_process(
    cluster: InProcessCluster,
) -> None:
    async def broken(client: Client) -> None:
        raise ValueError("bug")

    manager = Manager("test")
    manager.add(broken)
    with pytest.raises(ExceptionGroup) as caught:
        await manager.serve(cluster.environment())
    assert [str(error) for error in leaf_errors(caught.value)] == ["bug"]


async def test_runnable_that_says_what_has_to_be_changed_ends_the_process(
    cluster: InProcessCluster,
) -> None:
    manager = Manager("test")
    manager.add(Poller(ConfigError("another scope")))
    with pytest.raises(ExceptionGroup) as caught:
        await manager.serve(cluster.environment())
    assert [str(error) for error in leaf_errors(caught.value)] == ["another scope"]


async def test_runnable_that_has_ended_is_over(cluster: InProcessCluster) -> None:
    calls: list[None] = []

    async def once(client: Client) -> None:
        calls.append(None)

    manager = Manager("test")
    manager.add(once)
    running = asyncio.ensure_future(manager.serve(cluster.environment()))
    await advance(600)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert calls == [None]
