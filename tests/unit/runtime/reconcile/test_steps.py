"""Steps: what failed is kept by name, what is outdated is raised, and the others run."""

from __future__ import annotations

import pytest

from quintant import Steps, Terminal
from quintant.core.errors import (
    Conflict,
    ConnectError,
    Forbidden,
    Invalid,
    NotFound,
    NotLeader,
    Status,
)


async def returns(value: str) -> str:
    return value


async def fails(error: Exception) -> str:
    raise error


def refusal(code: int, message: str) -> Status:
    return Status(code=code, reason="Refused", message=message)


async def test_step_returns_what_it_returns() -> None:
    steps = Steps()
    assert await steps.run("services", returns("made")) == "made"
    assert steps.failures == []


async def test_failed_steps_are_kept_in_order_and_others_run() -> None:
    steps = Steps()
    forbidden, away = Forbidden(refusal(403, "no\nright")), ConnectError("down\nbecause: x")
    assert await steps.run("services", fails(forbidden)) is None
    assert await steps.run("claims", returns("kept")) == "kept"
    assert await steps.run("pods", fails(away)) is None
    assert await steps.run("role", fails(Terminal("wrong\nname"))) is None
    assert [(each.step, each.message, each.terminal) for each in steps.failures] == [
        ("services", "no right", False),
        ("pods", "down", False),
        ("role", "wrong name", True),
    ]
    assert [each.error for each in steps.failures][:2] == [forbidden, away]


@pytest.mark.parametrize(
    "error",
    [
        Conflict(refusal(409, "changed")),
        NotFound(refusal(404, "gone")),
        NotLeader("the lease is lost"),
        KeyError("a mistake"),
        ValueError("a mistake"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_outdated_reads_and_mistakes_are_raised(error: Exception) -> None:
    steps = Steps()
    with pytest.raises(type(error)):
        await steps.run("pods", fails(error))
    assert steps.failures == []


async def test_invalid_objects_are_terminal_failures_without_an_event() -> None:
    steps, wrong = Steps(invalid=(ValueError,)), ValueError("port 0")
    assert await steps.run("pods", fails(wrong)) is None
    (failure,) = steps.failures
    assert (failure.terminal, failure.message) == (True, "port 0")
    assert isinstance(failure.error, Terminal)
    assert (failure.error.event, failure.error.reason) == (False, "Error")
    assert failure.error.__cause__ is wrong


async def test_refusal_of_the_server_is_told_in_its_own_words() -> None:
    steps = Steps()
    await steps.run("pods", fails(Invalid(refusal(422, "spec.x: too long"), "POST /pods")))
    assert steps.failures[0].message == "spec.x: too long"
