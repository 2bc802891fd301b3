from __future__ import annotations

import os
import socket

import pytest

from quintant.cli.processes.child_settings import (
    VARIABLE,
    ChildSettings,
    take_child_settings,
)
from quintant.core.errors import ConfigError


def test_a_process_without_a_parent_is_no_child() -> None:
    assert take_child_settings({}) is None


def test_a_child_has_what_its_parent_gave_and_what_it_starts_has_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port, descriptor = listening.getsockname()[1], os.dup(listening.fileno())
    given = ChildSettings(1, "host_id", descriptor, "json")
    environ = {VARIABLE: given.encode(), "PATH": "/bin"}

    child = take_child_settings(environ)

    assert child == given
    assert environ == {"PATH": "/bin"}
    process = child.process()
    with process.listening:
        assert process.identity == "host_id"
        assert process.listening.getsockname()[1] == port
        assert not process.listening.get_inheritable()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"number": "one"}', "[" * 100_000])
def test_a_variable_that_no_parent_wrote_is_explained(text: str) -> None:
    with pytest.raises(ConfigError, match="try: unset QUINTANT_CHILD_PROCESS"):
        take_child_settings({VARIABLE: text})


def test_a_socket_that_is_none_is_explained() -> None:
    with pytest.raises(ConfigError, match="this process cannot be one of several"):
        ChildSettings(0, "host_id", 10**6, "json").process()
