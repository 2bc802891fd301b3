"""Options are read from the environment as people write them, and refused by name."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from quintant.core.errors import ConfigError
from quintant.core.options import (
    Duration,
    Parser,
    from_environment,
    one_of,
    parse_option,
    parser_of,
)


class Options(Struct, frozen=True):
    image: str = "plain"
    wait: Duration = 30.0
    resync: Duration | None = None
    workers: int = 4
    port: Annotated[int, Meta(ge=0, le=65535)] = 80
    share: float = 0.5
    webhooks: bool = True
    source: Literal["ask", "assume"] = "ask"
    namespaces: tuple[str, ...] = ()
    upper: Annotated[str, Parser("small letters", str.upper)] = ""


def read(field: str, text: str) -> Any:
    return parse_option(Options, field, text, name=field.upper())


def test_every_field_has_its_variable_and_the_rest_its_default() -> None:
    given = {
        "APP_IMAGE": "fine",
        "APP_RESYNC": "1h",
        "APP_PORT": "0",
        "APP_SHARE": "0.25",
        "APP_WEBHOOKS": "false",
        "APP_SOURCE": "assume",
        "APP_NAMESPACES": "a, b,",
        "APP_UPPER": "x",
        "APP_UNKNOWN": "1",
        "WORKERS": "9",
    }
    assert from_environment(Options, given, prefix="APP_") == Options(
        "fine", 30.0, 3600.0, 4, 0, 0.25, False, "assume", ("a", "b"), "X"
    )


def test_empty_variable_is_none() -> None:
    assert from_environment(Options, {"WORKERS": "", "IMAGE": ""}) == Options()


def test_variable_that_makes_no_sense_is_named_with_what_is_expected_and_what_came() -> None:
    with pytest.raises(ConfigError) as refused:
        from_environment(Options, {"APP_PORT": "http"}, prefix="APP_")
    assert refused.value.what == "APP_PORT=http cannot be used"
    assert refused.value.because == "expected a number from 0 to 65535"


def test_field_without_default_must_be_set() -> None:
    class Needed(Struct, frozen=True):
        url: str

    with pytest.raises(ConfigError, match="APP_URL is not set"):
        from_environment(Needed, {}, prefix="APP_")
    assert from_environment(Needed, {"APP_URL": "x"}, prefix="APP_") == Needed("x")


def test_type_that_nobody_can_read_is_an_error_of_the_program() -> None:
    class Odd(Struct, frozen=True):
        odd: dict[str, str]

    with pytest.raises(TypeError, match="give it a Parser"):
        parser_of(Odd, "odd")


@pytest.mark.parametrize(
    ("text", "value"), [("500ms", 0.5), ("30s", 30), ("5m", 300), ("10h", 36000), ("1.5", 1.5)]
)
def test_durations_have_units(text: str, value: float) -> None:
    assert read("wait", text) == value


@pytest.mark.parametrize("text", ["", "0", "-1s", "5d", "s", "1 s", "nan"])
def test_no_duration_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(ConfigError, match="RESYNC="):
        read("resync", text)


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "²"])
def test_no_count_is_refused(text: str) -> None:
    assert read("workers", "12") == 12
    with pytest.raises(ConfigError, match="from 1 on"):
        read("workers", text)


@pytest.mark.parametrize("text", ["nan", "1e3", "half", "", "²"])
def test_no_number_is_refused(text: str) -> None:
    assert read("share", "-0.5") == -0.5
    with pytest.raises(ConfigError, match="a number"):
        read("share", text)


def test_other_words_are_refused_with_those_that_are_known() -> None:
    assert one_of(("a", "b")).read("SOURCE", "a") == "a"
    with pytest.raises(ConfigError, match="a or b"):
        one_of(("a", "b")).read("SOURCE", "c")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("T", True), ("0", False)])
def test_switches_are_those_of_go(text: str, value: bool) -> None:
    assert read("webhooks", text) is value
    with pytest.raises(ConfigError, match="WEBHOOKS=yes"):
        read("webhooks", "yes")
