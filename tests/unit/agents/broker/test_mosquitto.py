"""The configuration of a mosquitto in the broker's place: what it is told, and what never."""

from __future__ import annotations

import pytest

from quintant.agents.broker.mosquitto import DIRECTIVES, bound_config

POD = "127.42.0.7"


def test_listeners_are_bound_to_the_pod() -> None:
    text = (
        "# c\nlistener 1883\nlistener 9001 0.0.0.0\n listener 1 192.0.2.1\nallow_anonymous true\n"
    )
    assert bound_config(text, POD, 1883).text == (
        f"listener 1883 {POD}\nlistener 9001 {POD}\nlistener 1 {POD}\nallow_anonymous true\n"
    )


def test_without_a_listener_there_is_the_usual_one() -> None:
    assert bound_config("", POD, 1883).text == f"listener 1883 {POD}\nallow_anonymous true\n"


@pytest.mark.parametrize(
    "line",
    [
        "plugin /tmp/x.so", "auth_plugin /tmp/x.so", "global_plugin /tmp/x.so", "include_dir /tmp",
        "plugin_load x /tmp/x.so", "auth_opt_x y", "persistence_location /tmp", "pid_file /tmp/x",
        "log_dest file /tmp/x", "user root", "bridge_cafile /x", "password_file /x", "Plugin /x.so",
        "PLUGIN\t/tmp/x.so", "sys_interval 1\tplugin", "listener 0 /tmp/socket x", "plugin",
    ],
)  # fmt: skip
def test_what_loads_code_or_names_files_is_left_out_and_named(line: str) -> None:
    found = bound_config(f"listener 1883\n{line}\nmax_connections 9\r{line}\r\n", POD, 1883)
    assert found.text == f"listener 1883 {POD}\nmax_connections 9\n"
    assert len(found.left_out) == 1


def test_what_is_left_out_opens_the_broker_to_nobody() -> None:
    assert "allow_anonymous" not in bound_config("password_file /x\n", POD, 1883).text
    assert bound_config("allow_anonymous false\n", POD, 1883).text == (
        f"listener 1883 {POD}\nallow_anonymous false\n"
    )


def test_an_address_that_is_none_is_no_line() -> None:
    with pytest.raises(ValueError, match="plugin"):
        bound_config("", f"{POD}\nplugin /x.so", 1883)


def test_no_directive_that_is_passed_on_has_a_path_as_its_value() -> None:
    assert not any("/" in values or r"\S" in values for values in DIRECTIVES.values())
