"""Files that an operator in a pod of the embedded cluster may use: the pod's, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.cli.operators.pod_files import (
    FileOutsidePod,
    require_pod_files,
    require_pod_kubeconfig,
)
from quintant.client.config.config import Config

KUBECONFIG = """
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:1", {cluster}}}}}]
users: [{{name: u, user: {{{user}}}}}]
"""


def load(folder: Path, *, cluster: str = "", user: str = "") -> Config:
    (folder / "config").write_text(KUBECONFIG.format(cluster=cluster, user=user))
    return Config.load(folder / "config")


@pytest.mark.parametrize(
    ("cluster", "user"),
    [
        ("certificate-authority: {beside}", ""),
        ("", "tokenFile: {beside}"),
        ("", "client-certificate: {beside}, client-key: key"),
        ("", "client-certificate: crt, client-key: {beside}"),
    ],
)
def test_no_file_that_a_kubeconfig_names_is_outside_of_the_pod(
    tmp_path: Path, cluster: str, user: str
) -> None:
    root, beside = tmp_path / "root", tmp_path / "beside"
    root.mkdir()
    beside.write_text("secret of whoever runs the cluster")
    config = load(root, cluster=cluster.format(beside=beside), user=user.format(beside=beside))
    environ = {"QUINTANT_ROOT": str(root)}
    with pytest.raises(FileOutsidePod, match="outside of the pod"):
        require_pod_files(config, environ=environ)
    require_pod_files(config, environ={})  # not on the embedded node
    require_pod_files(load(root, user="tokenFile: token"), None, "", environ=environ)


def test_no_kubeconfig_is_outside_of_the_pod(tmp_path: Path) -> None:
    environ = {"QUINTANT_ROOT": str(tmp_path / "root"), "KUBECONFIG": str(tmp_path / "admin")}
    with pytest.raises(FileOutsidePod, match="admin"):
        require_pod_kubeconfig(None, environ)
    with pytest.raises(FileOutsidePod, match="mine"):
        require_pod_kubeconfig(tmp_path / "mine", {**environ, "KUBECONFIG": ""})
    require_pod_kubeconfig(tmp_path / "root/config", environ)
