"""`quintant up --load`: manifests that a cluster has before it is ready."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from quintant.cli.apply.kustomization import NAMES, build
from quintant.cli.apply.manifest_files import Manifest, read_manifests
from quintant.cli.apply.writer import MANAGER, ManifestWriter
from quintant.cli.slow_progress import SlowProgress
from quintant.client.rest import Rest
from quintant.cluster.apiserver.meta.user import admin
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.cluster.component.component import transport_as

LOAD_SECONDS = 60.0
"""For a definition to be served."""


def load_manifests(paths: Sequence[Path]) -> tuple[Manifest, ...]:
    """The objects of files, folders, and folders with a kustomization; ConfigError."""
    return tuple(manifest for path in paths for manifest in _read(path))


async def apply_at_start(server: ApiServer, manifests: Sequence[Manifest]) -> None:
    """Apply manifests to a server of this process, as its administrator."""
    async with transport_as(server, admin(MANAGER)) as transport:
        progress = SlowProgress().say
        writer = ManifestWriter(Rest(transport), "default", LOAD_SECONDS, progress)
        await writer.apply(manifests, lambda line: None, force=True)


def _read(path: Path) -> list[Manifest]:
    kustomized = any((path / name).is_file() for name in NAMES)
    return build(path) if kustomized else read_manifests([path])
