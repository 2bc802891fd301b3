"""What the broker is told."""

from __future__ import annotations

import pytest

from quintant.agents.broker.program import PORT, parse


def test_it_listens_on_this_machine_alone_unless_told_otherwise() -> None:
    assert parse(["--listen", "127.0.0.1"]) == ("127.0.0.1", PORT, False)


def test_an_address_with_more_lines_is_none() -> None:
    """It would become a line of a mosquitto's configuration."""
    with pytest.raises(SystemExit):
        parse(["--prefer-mosquitto", "--listen", "127.0.0.1\nplugin /x.so"])
