"""The sizes of claims in a file for programs: a folder itself has the size of the whole disk.

A file of each container that mounts a claim, named by a variable, says it in JSON. It is replaced
in one step when a claim has grown, so a program that reads it again knows the size as it is now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from quintant.api.container import Container
from quintant.api.pod import PodSpec
from quintant.api.quantity import bounded_quantity
from quintant.cluster.common.volume_binding import STORAGE
from quintant.cluster.kubelet.volume.references import References
from quintant.cluster.kubelet.volume.rootfs import folder_at, path_in_root

CLAIMS = "QUINTANT_CLAIMS"
"""The variable with the path of the file."""
_FILE, _NEXT = "claims.json", "claims.json.tmp"


class ClaimSize(Struct, frozen=True):
    """A claim, and the bytes that it has."""

    claim: str
    bytes: int


class MountedClaim(Struct, frozen=True, rename="camel"):
    """Where a container has a claim: its mount path, and the folder of this machine."""

    mount_path: str
    path: str
    claim: str
    bytes: int


def claim_sizes(spec: PodSpec, references: References) -> dict[str, ClaimSize]:
    """The claims behind a pod's volumes, by the name of the volume."""
    sizes = {}
    for volume in spec.volumes:
        source = volume.persistent_volume_claim
        claim = references.claims.get(source.claim_name) if source is not None else None
        if claim is not None:
            amount = bounded_quantity(claim.status.capacity.get(STORAGE, "0"))
            sizes[volume.name] = ClaimSize(claim.metadata.name, int(amount))
    return sizes


def claims_file(container: Container, root: Path, spec: PodSpec) -> Path | None:
    """The file of a container; None if it mounts no claim."""
    claimed = {each.name for each in spec.volumes if each.persistent_volume_claim is not None}
    mounted = any(mount.name in claimed for mount in container.volume_mounts)
    return root.parent / _FILE if mounted else None


def write_claim_sizes(container: Container, root: Path, sizes: Mapping[str, ClaimSize]) -> None:
    """Write the file of a container that has its volumes; nothing if none is of a claim."""
    mounted = tuple(_mounted(container, root, sizes))
    if not mounted:
        return
    ahead = root.parent / _NEXT
    ahead.write_bytes(msgspec.json.encode({"claims": mounted}) + b"\n")
    ahead.replace(root.parent / _FILE)


def _mounted(
    container: Container, root: Path, sizes: Mapping[str, ClaimSize]
) -> Iterator[MountedClaim]:
    for mount in container.volume_mounts:
        size = sizes.get(mount.name)
        if size is not None:
            folder = folder_at(path_in_root(root, mount.mount_path))
            yield MountedClaim(mount.mount_path, str(folder), size.claim, size.bytes)
