from __future__ import annotations

import re

from image.build import ROOT
from image.by_hand import PAGES, typed_builds


def test_every_page_that_builds_by_hand_is_tried() -> None:
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("*.md"), *ROOT.glob("src/**/README.md")]
    command = re.compile(r"^(?:podman|docker|buildah) build .*deploy/Containerfile", re.MULTILINE)
    named = {str(page.relative_to(ROOT)) for page in pages if command.search(page.read_text())}
    assert named | {"deploy/Containerfile"} == {*PAGES}


def test_a_command_is_taken_with_all_its_lines() -> None:
    assert len(typed_builds()) >= len(PAGES)
    assert all(each.endswith(" .") for each in typed_builds())
