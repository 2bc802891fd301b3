"""VolumeManager: mounts the volumes of a pod, and updates those that follow an object.

All of them have to be there before any container starts. A volume that cannot be set up is told
with the words of a kubelet, and tried again.
"""

from __future__ import annotations

from pathlib import Path

from quintant.api.volume import HostPathVolumeSource, Volume
from quintant.cluster.common.volume_paths import local_directory
from quintant.cluster.kubelet.pod.sandbox import Sandbox
from quintant.cluster.kubelet.volume.claim_sizes import ClaimSize, claim_sizes
from quintant.cluster.kubelet.volume.mounts import republish, retell_sizes
from quintant.cluster.kubelet.volume.projected import (
    MountError,
    VolumeContents,
    token_projections,
    volume_files,
)
from quintant.cluster.kubelet.volume.publish import link, publish
from quintant.cluster.kubelet.volume.references import References
from quintant.cluster.kubelet.volume.service_account_tokens import TokenManager
from quintant.runtime.cache.client import Client

_MADE = ("DirectoryOrCreate",)
"""Types of host paths that are made when they are not there."""


class VolumeManager:
    """The volumes of one pod."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._tokens = TokenManager()

    @property
    def due(self) -> float:
        """When a token has to be renewed."""
        return self._tokens.due

    async def mount(self, client: Client, references: References) -> None:
        """Make every volume what it should be; MountError names the first that cannot be."""
        pod, node = self._sandbox.pod, self._sandbox.node
        held = await self._tokens.refresh(client, pod, token_projections(pod.spec), node.now())
        contents = references.contents(held)
        for volume in pod.spec.volumes:
            try:
                self._volume(volume, contents, references)
            except (MountError, OSError) as error:
                text = f'MountVolume.SetUp failed for volume "{volume.name}" : {error}'
                raise MountError(text) from error
        self._tell_sizes(claim_sizes(pod.spec, references))

    def _tell_sizes(self, sizes: dict[str, ClaimSize]) -> None:
        sandbox = self._sandbox
        if sandbox.sizes != sizes:
            sandbox.sizes = sizes
            retell_sizes(sandbox.folder, sandbox.pod.spec, sizes)

    def _volume(self, volume: Volume, contents: VolumeContents, references: References) -> None:
        sandbox = self._sandbox
        folder = sandbox.folder / "volumes" / volume.name
        wanted = volume_files(volume, sandbox.about, contents)
        if wanted is not None:
            if sandbox.published.get(volume.name) != wanted:
                publish(folder, wanted)
                republish(sandbox.folder, sandbox.pod.spec, volume.name, wanted)
                sandbox.published[volume.name] = wanted
        elif volume.empty_dir is not None:
            folder.mkdir(parents=True, exist_ok=True)
        elif not folder.exists():
            link(folder, self._elsewhere(volume, references), self._sandbox.folder)

    def _elsewhere(self, volume: Volume, references: References) -> Path:
        """The folder of a volume that is not the pod's own."""
        if volume.host_path is not None:
            return self._host(volume.host_path)
        if volume.persistent_volume_claim is None:
            raise MountError("this node has no such volumes")
        return self._claimed(volume.persistent_volume_claim.claim_name, references)

    def _claimed(self, name: str, references: References) -> Path:
        claim = references.claims.get(name)
        if claim is None:
            raise MountError(f'persistentvolumeclaim "{name}" not found')
        disk = references.disks.get(claim.spec.volume_name)
        if disk is None or claim.status.phase != "Bound":
            raise MountError(f'persistentvolumeclaim "{name}" is not bound')
        folder = local_directory(self._sandbox.node.storage, disk)
        if folder is None:
            raise MountError(f'persistentvolume "{disk.metadata.name}" is not of this machine')
        # What a path says and where it leads differ by `..` and by links.
        folder = folder.resolve()
        if not folder.is_relative_to(self._sandbox.node.storage.resolve()):
            self._check_host(str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _host(self, wanted: HostPathVolumeSource) -> Path:
        self._check_host(wanted.path)
        path = Path(wanted.path)
        if wanted.type in _MADE:
            path.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            raise MountError(f"hostPath {wanted.path} does not exist")
        return path

    def _check_host(self, path: str) -> None:
        if not self._sandbox.node.policy.host_paths:
            raise MountError(f"hostPath {path} is not allowed on this node")
