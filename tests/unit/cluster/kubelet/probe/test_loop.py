"""Probes: when answers become a verdict."""

from __future__ import annotations

import pytest

from quintant.api.container import Container, ContainerPort, Probe
from quintant.cluster.kubelet.probe.loop import ProbeStreak, resolve_port


def verdicts(answers: str, **probe: int) -> list[bool | None]:
    tally, found = ProbeStreak(), []
    for answer in answers:
        tally = tally.after(answer == "+", Probe(**probe))  # type: ignore[arg-type]
        found.append(tally.verdict)
    return found


def test_one_good_answer_is_enough_unless_more_are_asked_for() -> None:
    assert verdicts("+") == [True]
    assert verdicts("+++", success_threshold=3) == [None, None, True]


def test_three_bad_answers_in_a_row_are_needed() -> None:
    assert verdicts("--+--+---") == [None, None, True, True, True, True, True, True, False]


@pytest.mark.parametrize(("port", "number"), [(80, 80), ("web", 8080), ("81", 81), ("none", 0)])
def test_a_port_has_a_number_or_a_name(port: int | str, number: int) -> None:
    container = Container(name="c", ports=(ContainerPort(container_port=8080, name="web"),))
    assert resolve_port(container, port) == number
