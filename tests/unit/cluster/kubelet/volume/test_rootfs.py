"""Paths and addresses of a container, as those of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cluster.kubelet.container.expand_vars import expand
from quintant.cluster.kubelet.volume.rootfs import PathRewriter, path_in_root, require_inside

REWRITER = PathRewriter.of(Path("/r"), ["/etc/app", "/data/", "/data/deep"], "127.42.0.1")


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("/etc/app", "/r/etc/app"),
        ("/etc/app/x.yaml", "/r/etc/app/x.yaml"),
        ("--config=/etc/app/x", "--config=/r/etc/app/x"),
        ("cat /data/a > /data/deep/b", "cat /r/data/a > /r/data/deep/b"),
        ("/data:/etc/app", "/r/data:/r/etc/app"),
        ('"/data/a"', '"/r/data/a"'),
        ("/etc/apparmor", "/etc/apparmor"),
        ("/opt/data", "/opt/data"),
        ("http://host/data", "http://host/data"),
        ("http://host:80/data", "http://host:80/data"),
        ("$HOME/data", "$HOME/data"),
        ("${X}/data", "${X}/data"),
        ("../data", "../data"),
        ("0.0.0.0:80", "127.42.0.1:80"),
        ("tcp://0.0.0.0:26657", "tcp://127.42.0.1:26657"),
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("0.0.0.0.0", "0.0.0.0.0"),
    ],
)
def test_what_stands_for_itself_is_rewritten(text: str, rewritten: str) -> None:
    assert REWRITER.text(text) == rewritten


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("/home/operator", "/tmp/node/home/operator"),
        ("/tmp", "/tmp/node/tmp"),
        ("cp /tmp/a /home/operator/b", "cp /tmp/node/tmp/a /tmp/node/home/operator/b"),
        ("/tmp/node/tmp", "/tmp/node/tmp/node/tmp"),
    ],
)
def test_what_takes_the_place_of_a_path_is_not_replaced_again(text: str, rewritten: str) -> None:
    rewriter = PathRewriter.of(Path("/tmp/node"), ["/tmp", "/home/operator"], "127.42.0.1")
    assert rewriter.text(text) == rewritten


def test_a_container_without_mounts_has_its_address_replaced() -> None:
    assert PathRewriter.of(Path("/r"), [], "127.42.0.1").text("/x 0.0.0.0") == "/x 127.42.0.1"


def test_nothing_leads_out_of_the_root() -> None:
    assert path_in_root(Path("/r"), "/../../etc/./x") == Path("/r/etc/x")


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)", "1"),
        ("x-$(A)-$(B)", "x-1-two"),
        ("$(C)", "$(C)"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$A", "$A"),
        ("$(A", "$(A"),
        ("100$", "100$"),
    ],
)
def test_references_are_expanded_as_kubernetes_does(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "two"}) == expanded


def test_a_link_in_a_volume_does_not_lead_the_kubelet_out_of_the_pod(tmp_path: Path) -> None:
    root, volume, beside = (tmp_path / name for name in ("root", "volume", "beside"))
    for each in (root, volume, beside):
        each.mkdir()
    (volume / "out").symlink_to(beside)
    (root / "data").symlink_to(volume)
    assert require_inside(root / "data/new", (root, volume)) == root / "data/new"
    with pytest.raises(PermissionError, match="out of the pod"):
        require_inside(root / "data/out/termination-log", (root, volume))
