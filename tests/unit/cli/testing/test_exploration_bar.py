"""What the bar of an exploration prints is printed as it is."""

from __future__ import annotations

import pytest

from quintant.cli.testing.exploration_bar import ExplorationBar


def test_the_name_of_a_point_is_no_picture(capsys: pytest.CaptureFixture[str]) -> None:
    with ExplorationBar() as bar:
        bar.say("crash-after@create:key:default/[a]#1")
    assert capsys.readouterr().out == "crash-after@create:key:default/[a]#1\n"
