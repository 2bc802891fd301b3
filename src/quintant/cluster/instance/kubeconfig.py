"""kubeadm CreateKubeConfigFile: the kubeconfig of a cluster's administrator, and its file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from quintant.cluster.instance.pki import ADMIN, NAME, Pki
from quintant.core.errors import ConfigError
from quintant.keys.private_files import write_private
from quintant.keys.sensitive import Sensitive


def kubeconfig(url: str, pki: Pki) -> Sensitive[bytes]:
    """The kubeconfig of a cluster's administrator. It is JSON, which every reader of YAML reads."""
    pair = {"client-certificate-data": pki.admin.certificate, "client-key-data": pki.admin.key}
    cluster = {"server": url, "certificate-authority-data": _base64(pki.authority)}
    user = {name: _base64(pem.reveal()) for name, pem in pair.items()}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": NAME,
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": ADMIN, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": ADMIN}}],
    }
    return Sensitive(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def write_kubeconfig(way: Sensitive[bytes], path: Path) -> None:
    """Write a kubeconfig; ConfigError rather than overwrite somebody else's."""
    if path.exists() and not _ours(path):
        raise ConfigError(
            f"cannot write the kubeconfig to {path}",
            because="there is one already, and it is not of an embedded cluster",
            hint="name another file with --kubeconfig, and KUBECONFIG=a:b to use both",
        )
    try:
        write_private(path, way.reveal())
    except OSError as error:
        raise ConfigError(
            f"cannot write the kubeconfig to {path}",
            because=error.strerror or str(error),
            hint="name another file with --kubeconfig",
        ) from error


def usual_path(environ: Mapping[str, str], port: int) -> Path:
    """Where the kubeconfig of a cluster on a port belongs: a folder for what lasts a while."""
    return runtime_folder(environ) / f"kubeconfig-{port}"


def runtime_folder(environ: Mapping[str, str]) -> Path:
    """Where a user's clusters keep what lasts as long as they do."""
    home = Path(environ.get("HOME") or Path.home())
    state = environ.get("XDG_STATE_HOME") or home / ".local" / "state"
    return Path(environ.get("XDG_RUNTIME_DIR") or state) / "quintant"


def _ours(path: Path) -> bool:
    try:
        document: Any = msgspec.json.decode(path.read_bytes())
        return [entry["name"] for entry in document["clusters"]] == [NAME]
    except (OSError, msgspec.DecodeError, KeyError, TypeError):
        return False


def _base64(raw: bytes) -> str:
    return b64encode(raw).decode()
