"""Manifests are read from files, folders and lists; what is none is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.apply.manifest_files import parse_manifests, read_manifests
from quintant.core.errors import ConfigError

POD = "{apiVersion: v1, kind: Pod, metadata: {name: %s}}\n"


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(POD % "b" + "---\n" + POD % "c")
    (tmp_path / "a.json").write_text('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}')
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "d.yml").write_text(POD % "d")
    assert [each.name for each in read_manifests([tmp_path])] == ["a", "b", "c"]
    assert [each.name for each in read_manifests([tmp_path], recursive=True)] == list("abcd")


def test_the_items_of_lists_are_objects() -> None:
    text = b"{apiVersion: v1, kind: List, items: [" + (POD % "a").encode().strip() + b"]}"
    assert [each.name for each in parse_manifests(text, "x")] == ["a"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[1]", "it is no mapping"),
        ("{kind: Pod}", "it has no apiVersion"),
        ("{apiVersion: v1, kind: 3}", "it has no kind"),
        ("{apiVersion: v1, kind: Pod}", r"its Pod has no metadata\.name"),
        ("{apiVersion: v1, kind: Pod, metadata: {name: ''}}", r"its Pod has no metadata\.name"),
        ("{apiVersion: v1, kind: Pod, metadata: {name: [x]}}", r"its Pod has no metadata\.name"),
        ("", "there is no object"),
    ],
)
def test_what_is_no_object_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(ConfigError, match=complaint):
        read_manifests([tmp_path / "x.yaml"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file .*none\.yaml"):
        read_manifests([tmp_path / "none.yaml"])
