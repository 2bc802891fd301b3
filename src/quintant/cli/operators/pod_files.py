"""An operator in a pod of the embedded cluster uses no file outside of the pod.

It runs as whoever runs the cluster: a kubeconfig of his, or a file that a kubeconfig of a ConfigMap
names as its token, is not the pod's to use. Elsewhere nothing is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from quintant.agents.embedded_node import PathOutsidePod, pod_path
from quintant.client.config.config import Config
from quintant.core.errors import QuintantError


class FileOutsidePod(QuintantError):
    """A file of an operator is not its pod's."""


def require_pod_files(
    config: Config, *named: str | Path | None, environ: Mapping[str, str] = os.environ
) -> None:
    """Refuse a configuration that names a file outside of the pod; `named` are further ones."""
    try:
        for path in (*(each for each in named if each), *_paths(config)):
            pod_path(str(path), environ)
    except PathOutsidePod as error:
        raise FileOutsidePod(str(error)) from None


def require_pod_kubeconfig(
    named: str | Path | None, environ: Mapping[str, str] = os.environ
) -> None:
    """Refuse a kubeconfig outside of the pod before it is read: the one named, or $KUBECONFIG."""
    listed = [each for each in environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    try:
        for path in [str(named)] if named else listed:
            pod_path(path, environ)
    except PathOutsidePod as error:
        raise FileOutsidePod(str(error)) from None


def _paths(value: Any) -> Iterator[Path]:
    """Every path in a configuration, however deep."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            yield from _paths(getattr(value, name))
