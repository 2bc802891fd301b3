"""KubeletConfiguration: what a user decides about the node; a value that loads nothing of it."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from quintant.cluster.kubelet.container.images import ImageProgram


class NodeOptions(Struct, frozen=True):
    """What a user decides about the node."""

    programs: tuple[ImageProgram, ...] = ()
    """Entries of the image table that come before ours."""
    host_paths: bool = False
    """Whether volumes may be any folder of this machine."""
    storage: Path | None = None
    """The root of persistent volumes; None keeps them as long as the node."""
    process_nodes: tuple[str, ...] = ()
    """The names of further nodes of this machine, to be made if they are not there."""
