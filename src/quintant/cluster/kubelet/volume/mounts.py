"""makeMounts: a pod's volumes in the roots of its containers, at their mount paths.

Files of ConfigMaps, Secrets, tokens and fields are published at every mount path anew: there is a
folder, as in a container, with the same layout. Other volumes have one folder that all containers
share, so a link leads to it; who is told its path is told that of the folder (`folder_at`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from quintant.api.container import Container, VolumeMount
from quintant.api.pod import PodSpec
from quintant.cluster.kubelet.container.visit_containers import visit_containers
from quintant.cluster.kubelet.volume.claim_sizes import ClaimSize, write_claim_sizes
from quintant.cluster.kubelet.volume.projected import ProjectedFile
from quintant.cluster.kubelet.volume.publish import DATA, is_own, join_inside, link, make_room
from quintant.cluster.kubelet.volume.publish import publish as published_at
from quintant.cluster.kubelet.volume.rootfs import path_in_root, require_inside

Files = Mapping[str, ProjectedFile]


class VolumeFolders(Struct, frozen=True):
    """Where a pod's volumes are, and the files of those that follow an object."""

    folder: Path
    published: Mapping[str, Files]
    sizes: Mapping[str, ClaimSize]
    """Of those that are claims."""


def container_root(pod: Path, name: str) -> Path:
    """The root of a container, in the folder of its pod."""
    return pod / "containers" / name / "root"


def own_folders(container: Container, root: Path) -> tuple[Path, ...]:
    """All that a container may call its own: its root, and the volumes that it mounts."""
    volumes = root.parents[2] / "volumes"
    names = dict.fromkeys(mount.name for mount in container.volume_mounts)
    return (root.resolve(), *((volumes / name).resolve() for name in names))


def mount_volumes(
    container: Container, root: Path, volumes: VolumeFolders, expand: Callable[[str], str]
) -> None:
    """Make the volumes of a container appear in its root; `expand` is for subPathExpr."""
    root.mkdir(parents=True, exist_ok=True)
    own = own_folders(container, root)
    # What is mounted below another mount has to come after it.
    for mount in sorted(container.volume_mounts, key=lambda each: len(each.mount_path)):
        _mount(mount, root, volumes, own, mount.sub_path or expand(mount.sub_path_expr))
    write_claim_sizes(container, root, volumes.sizes)


def republish(pod: Path, spec: PodSpec, volume: str, files: Files) -> None:
    """Bring files up to date wherever containers have them already."""
    for container in visit_containers(spec):
        for path in _mount_paths(container, container_root(pod, container.name), volume):
            if not path.is_symlink() and (path / DATA).is_symlink():
                published_at(path, files)


def retell_sizes(pod: Path, spec: PodSpec, sizes: Mapping[str, ClaimSize]) -> None:
    """Tell containers that have their volumes already how large their claims are now."""
    for container in visit_containers(spec):
        root = container_root(pod, container.name)
        if root.exists():
            write_claim_sizes(container, root, sizes)


def _mount_paths(container: Container, root: Path, volume: str) -> Iterator[Path]:
    """Where a whole volume appears in a container."""
    for mount in container.volume_mounts:
        if mount.name == volume and not (mount.sub_path or mount.sub_path_expr):
            yield path_in_root(root, mount.mount_path)


def _mount(
    mount: VolumeMount, root: Path, volumes: VolumeFolders, own: Sequence[Path], sub: str
) -> None:
    path, volume = path_in_root(root, mount.mount_path), volumes.folder / mount.name
    require_inside(path.parent, own)
    files = volumes.published.get(mount.name)
    if files is None:
        # A link to the folder itself: that of a claim is a link already.
        volume = volume.resolve()
    elif not sub and is_own(path, root):
        make_room(path, root)
        published_at(path, files)
        return
    target = join_inside(volume, sub) if sub else volume
    if sub and not target.exists():
        target.mkdir(parents=True)
    link(path, target, root)
