"""Paths and hosts of a pod, in a container and on the embedded node."""

from __future__ import annotations

from pathlib import Path

from quintant.agents.embedded_node import host_in_pod, path_in_pod


def test_in_a_container_paths_and_hosts_are_as_they_stand() -> None:
    assert path_in_pod("/home/operator", {}) == "/home/operator"
    assert host_in_pod("localhost", {}) == "localhost"


def test_on_the_embedded_node_they_are_the_pods_own(tmp_path: Path) -> None:
    (tmp_path / "home/operator").mkdir(parents=True)
    environ = {"QUINTANT_ROOT": str(tmp_path), "QUINTANT_POD_IP": "127.42.0.9"}
    assert path_in_pod("/home/operator", environ) == str(tmp_path / "home/operator")
    assert path_in_pod(str(tmp_path), environ) == str(tmp_path)
    assert host_in_pod("localhost", environ) == "127.42.0.9"
    assert host_in_pod("example.com", environ) == "example.com"
