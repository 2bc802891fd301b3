"""Commands of the simple kind end as they would; of others nothing is claimed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.cluster.simulated.shell_command import (
    LONGEST_LINE,
    Completion,
    command_completion,
)


@pytest.mark.parametrize(
    ("argv", "seconds", "code"),
    [
        (["sleep", "5"], 5, 0),
        (["/bin/sleep", "1.5m"], 90, 0),
        (["sleep", "1", "2s"], 3, 0),
        (["true"], 0, 0),
        (["/usr/bin/false"], 0, 1),
        (["echo", "a;", "exit", "3"], 0, 0),
        (["sh", "-c", "exit 3"], 0, 3),
        (["/bin/bash", "-c", "exit 300"], 0, 44),
        (["sh", "-c", "exit many"], 0, 2),
        (["sh", "-c", "sleep 5; exit 7"], 5, 7),
        (["sh", "-c", "sleep 5 && echo 'it is; done' && false"], 5, 1),
        (["sh", "-c", "false && sleep 9"], 0, 1),
        (["sh", "-c", "false || sleep 9"], 9, 0),
        (["sh", "-c", "true || exit 4; exit"], 0, 0),
        (["sh", "-c", "echo begin\nsleep 2\nexit 1\n"], 2, 1),
        (["sh", "-c", "sleep 1;"], 1, 0),
        (["sh", "-c", "exit $JOB_COMPLETION_INDEX"], 0, 4),
        (["sh", "-c", "exit ${JOB_COMPLETION_INDEX}"], 0, 4),
    ],
)
def test_a_command_of_the_simple_kind_ends(argv: list[str], seconds: float, code: int) -> None:
    variables = {"JOB_COMPLETION_INDEX": "4"}
    assert command_completion(argv, variables) == Completion(seconds, code)


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["nginx"],
        ["exit", "3"],
        ["sleep"],
        ["sleep", "infinity"],
        ["sleep", "9" * 400],
        ["sh"],
        ["sh", "-c"],
        ["sh", "-ec", "exit 3"],
        ["sh", "-c", ""],
        ["sh", "-c", "; exit 3"],
        ["sh", "-c", "exit 'three"],
        ["sh", "-c", "sleep 5 & exit 3"],
        ["sh", "-c", "echo a | false"],
        ["sh", "-c", "echo a > /tmp/a"],
        ["sh", "-c", "echo $(exit 3)"],
        ["sh", "-c", "exit `cat code`"],
        ["sh", "-c", "false; exit $?"],
        ["sh", "-c", "exit $CODE"],
        ["sh", "-c", 'exit "${CODE}"'],
        ["sh", "-c", "python run.py; exit 3"],
        ["sh", "-c", "echo " + "a" * LONGEST_LINE],
    ],
)
def test_of_any_other_command_nothing_is_claimed(argv: list[str]) -> None:
    assert command_completion(argv) is None


@given(st.lists(st.text(max_size=30), max_size=4), st.text(max_size=200))
def test_no_text_is_too_strange(argv: list[str], line: str) -> None:
    for given_argv in (argv, ["sh", "-c", line]):
        found = command_completion(given_argv)
        assert found is None or (found.seconds >= 0 and 0 <= found.exit_code < 256)
