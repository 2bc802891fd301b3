"""Command lines are read as Go's programs read theirs."""

from __future__ import annotations

import pytest

from quintant.cli.envtest.flag_set import FlagError, FlagWords, parse_flags

WORDS = FlagWords(("name", "on", "list"), ("on",))
ONE_DASH = FlagWords(("name",), (), dashes=1)


def test_values_stand_behind_a_flag_or_after_it() -> None:
    values = parse_flags(["--name=a", "--list", "x,y", "--list=z", "--on"], WORDS)
    assert (values.text("name"), values.items("list")) == ("a", ["x", "y", "z"])
    assert values.switch("on", default=False)


def test_the_last_value_counts_and_an_absent_one_is_the_default() -> None:
    values = parse_flags(["--name=a", "--name=b=c"], WORDS)
    assert (values.text("name"), values.text("list", "d"), values.items("list")) == ("b=c", "d", [])
    assert values.switch("on", default=True)


def test_a_switch_takes_its_value_behind_it_only() -> None:
    assert not parse_flags(["--on=false"], WORDS).switch("on", default=True)
    with pytest.raises(FlagError, match="got"):
        parse_flags(["--on", "false"], WORDS)
    with pytest.raises(FlagError, match='"maybe" for "--on"'):
        parse_flags(["--on=maybe"], WORDS).switch("on", default=True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--nope"], "unknown flag: --nope"),
        (["--nope=1"], "unknown flag: --nope"),
        (["--name"], "flag needs an argument: --name"),
        (["x"], "takes no arguments, got ['x']"),
        (["--", "x"], "takes no arguments, got ['x']"),
    ],
)
def test_what_is_no_flag_is_named(arguments: list[str], why: str) -> None:
    with pytest.raises(FlagError) as refused:
        parse_flags(arguments, WORDS)
    assert str(refused.value) == why


def test_programs_of_the_standard_library_write_one_dash() -> None:
    assert parse_flags(["-name", "a"], ONE_DASH).text("name") == "a"
    with pytest.raises(FlagError, match="flag provided but not defined: -nope"):
        parse_flags(["--nope"], ONE_DASH)


@pytest.mark.parametrize("argument", ["--help", "-h", "--version"])
def test_help_and_version_are_flags_of_every_program(argument: str) -> None:
    (found,) = parse_flags([argument], WORDS).given
    assert found in ("help", "version")
