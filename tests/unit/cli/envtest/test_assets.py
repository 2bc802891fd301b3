"""The folder for KUBEBUILDER_ASSETS."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from quintant.cli.envtest.assets import usual_folder, write_assets
from quintant.core.errors import ConfigError

NOTHING = {"PATH": ""}


def test_programs_are_there_and_can_be_started(tmp_path: Path) -> None:
    folder = write_assets(tmp_path / "a b", NOTHING)
    assert sorted(path.name for path in folder.iterdir()) == ["etcd", "kube-apiserver"]
    for name in ("etcd", "kube-apiserver"):
        ran = subprocess.run(
            [folder / name, "--help"], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert ran.stdout.startswith(f"Quintant's stand-in for {name}")


def test_a_folder_is_written_again_and_again(tmp_path: Path) -> None:
    first = write_assets(tmp_path, NOTHING)
    (first / "etcd").write_text("#!/bin/sh\n# Written by quintant envtest assets.\nold\n")
    assert write_assets(tmp_path, NOTHING) == first
    assert "old" not in (first / "etcd").read_text()
    assert not [path for path in first.iterdir() if path.name.startswith(".")]


def test_programs_of_others_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "etcd").write_bytes(b"\x7fELF\xff")
    with pytest.raises(ConfigError, match="not Quintant's"):
        write_assets(tmp_path, NOTHING)
    assert (tmp_path / "etcd").read_bytes() == b"\x7fELF\xff"


def test_the_kubectl_of_the_user_is_linked(tmp_path: Path) -> None:
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.touch(mode=0o755)
    environ = {"PATH": str(kubectl.parent)}
    for _ in range(2):
        folder = write_assets(tmp_path / "assets", environ)
        assert (folder / "kubectl").readlink() == kubectl
    within = {"PATH": os.pathsep.join((str(folder), str(kubectl.parent)))}
    write_assets(folder, within)
    assert (folder / "kubectl").readlink() == kubectl


def test_installations_have_folders_of_their_own(tmp_path: Path) -> None:
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    one, other = (usual_folder(environ, python) for python in ("/a/python", "/b/python"))
    assert one != other
    assert one.parent == other.parent == tmp_path / "quintant"


def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot put the programs into"):
        write_assets(tmp_path / "file" / "folder", NOTHING)
