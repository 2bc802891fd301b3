"""Models of what is outside the cluster."""

from __future__ import annotations

import pytest

from quintant.core.errors import ConfigError
from quintant.testing import FaultMode, Ledger, RemoteModel, effect
from testbeds.exploring import Cloud


def test_a_ledger_counts() -> None:
    ledger = Ledger()
    ledger.add("machine", "a")
    assert ("machine", "a") in ledger
    assert ledger.twice == []
    ledger.add("machine", "a")
    assert ledger.live["machine", "a"] == 2
    assert ledger.twice == [("machine", "a")]
    ledger.remove("machine", "a")
    assert ("machine", "a") not in ledger


def test_asking_a_ledger_changes_nothing() -> None:
    model = RemoteModel()
    assert ("machine", "a") not in model.ledger
    assert model.state() == {}


async def test_outside_of_a_process_an_effect_is_a_plain_call() -> None:
    cloud = Cloud(careful=False)
    await cloud.create("a")
    assert cloud.state() == {"machine a": 1}


def test_an_effect_is_async() -> None:
    with pytest.raises(ConfigError, match=r"cannot mark .*create as an effect\nbecause: .*\ntry: "):

        class Wrong(RemoteModel):
            @effect  # type: ignore[arg-type]
            def create(self, name: str) -> None: ...


@pytest.mark.parametrize(
    ("mode", "error"),
    [
        (FaultMode.LOST, ConnectionResetError),
        (FaultMode.TIMEOUT, TimeoutError),
        (FaultMode.UNAVAILABLE, ConnectionRefusedError),
    ],
)
def test_a_model_fails_as_a_network_does(mode: FaultMode, error: type[Exception]) -> None:
    assert type(RemoteModel().failure(mode)) is error
