"""Names of instructions, of whatever a user put into a ConfigMap."""

from __future__ import annotations

import pytest

from quintant.operators.shifu.observed.instruction_names import (
    LONGEST_NAME,
    LONGEST_TEXT,
    MOST_NAMES,
    MOST_TEXTS,
    instruction_names,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("instructions:\n  turn_on:\n  dim: {readWrite: W}\n", ("dim", "turn_on")),
        ("turn_on:\ndim:\n", ("dim", "turn_on")),
        ("instructions: {on: , 0x10: , 'true': }", ("0x10", "on", "true")),
        ("instructionSettings: {defaultTimeoutSeconds: 3}", ()),
        ("instructions: [a, b]", ()),
        ("instructions: {'': , \"line\\nbreak\": , fine: }", ("fine",)),
        (f"instructions: {{{'x' * (LONGEST_NAME + 1)}: , fine: }}", ("fine",)),
        ("a text", ()),
        ("[: no YAML", ()),
        ("", ()),
    ],
)
def test_names_are_what_the_agent_would_serve(text: str, names: tuple[str, ...]) -> None:
    assert instruction_names(text) == names


def test_of_very_many_names_the_first_are_taken() -> None:
    text = "".join(f"i{number:04}:\n" for number in range(MOST_NAMES * 3))
    assert instruction_names(text) == tuple(f"i{number:04}" for number in range(MOST_NAMES))


def test_a_text_that_is_too_long_or_too_deep_has_none() -> None:
    assert instruction_names(f"a: {'x' * LONGEST_TEXT}") == ()
    assert instruction_names("{a: " * 10_000) == ()


def test_the_same_text_is_read_once_and_very_many_texts_are_not_kept() -> None:
    first = instruction_names("instructions: {of_a_fleet: }")
    assert instruction_names("instructions: {of_a_fleet: }") is first
    for number in range(MOST_TEXTS + 1):
        instruction_names(f"a{number}: ")
    assert instruction_names("instructions: {of_a_fleet: }") is not first
