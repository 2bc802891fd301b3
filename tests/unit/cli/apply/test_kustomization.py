"""Kustomizations that gather files are built here; all others are refused by the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.apply.kustomization import NAMES, build
from quintant.core.errors import ConfigError

DEPLOY = Path(__file__).parents[4] / "deploy"
POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{image: 'a/b:1'}]}}"


def folder_with(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "kustomization.yaml").write_text(text)
    (folder / "pod.yaml").write_text(POD)
    return folder


def test_every_kustomization_of_the_operators_is_built() -> None:
    folders = [path.parent for name in NAMES for path in DEPLOY.rglob(name)]
    assert len(folders) > 20
    assert all(build(folder) for folder in folders)


def test_what_is_said_of_all_objects_is_in_all(tmp_path: Path) -> None:
    text = """
resources: [pod.yaml, ns.yaml]
namespace: other
labels: [{pairs: {team: a}}]
commonAnnotations: {note: b}
images: [{name: a/b, newName: c/d, newTag: "2"}]
"""
    (folder_with(tmp_path, text) / "ns.yaml").write_text(
        "{apiVersion: v1, kind: Namespace, metadata: {name: other}}"
    )
    pod, namespace = (manifest.obj for manifest in build(tmp_path))
    assert pod["metadata"] == {
        "name": "p",
        "namespace": "other",
        "labels": {"team": "a"},
        "annotations": {"note": "b"},
    }
    assert pod["spec"]["containers"] == [{"image": "c/d:2"}]
    assert "namespace" not in namespace["metadata"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("resources: [pod.yaml]\npatches: [{path: x}]", "has patches, which is not understood"),
        ("resources: [pod.yaml]\nlabels: [{pairs: {}, includeSelectors: true}]", "labels with"),
        ("resources: [.]", "in a circle"),
        ("resources: ['https://example.com/x.yaml']", "only files of this machine"),
        ("resources: [none.yaml]", r"there is no file .*none\.yaml"),
        ("resources: 3", "resources is no list"),
        ("[1]", "is no mapping"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        build(folder_with(tmp_path, text))


def test_a_folder_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no kustomization\.yaml in it"):
        build(tmp_path)
