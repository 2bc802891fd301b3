"""The files of the page: what they tell people to do can be done."""

from __future__ import annotations

import re
from importlib import resources

from quintant.cli import COMMANDS

STATIC = resources.files("quintant.console").joinpath("static")
COMMAND = re.compile(r"quintant ([a-z]+)\b")


def test_commands_that_the_page_names_exist() -> None:
    texts = [each.read_text() for each in STATIC.iterdir() if each.name.endswith((".js", ".html"))]
    named = {word for text in texts for word in COMMAND.findall(text)}
    assert named
    assert named <= set(COMMANDS)
