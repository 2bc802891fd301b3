"""Data survives in snapshots, and goes where its owner wants it to."""

from __future__ import annotations

from pathlib import Path

from quintant.api.core import PersistentVolume, TypedLocalObjectReference
from quintant.cluster.common.volume_paths import local_directory
from quintant.cluster.volumes.directories import Directories
from quintant.testing import InProcessCluster
from unit.cluster.volumes.volume_cluster import bound, ready, snapshot, start_volumes


async def test_data_of_a_volume_is_restored_from_its_snapshot(
    cluster: InProcessCluster, tmp_path: Path
) -> None:
    await start_volumes(cluster, Directories(tmp_path))
    found, volume = await bound(cluster)
    _file(tmp_path, volume).write_text("before")
    await cluster.create(snapshot())
    taken = await ready(cluster)
    _file(tmp_path, volume).write_text("after")
    source = TypedLocalObjectReference(
        kind="VolumeSnapshot", name="snap", api_group="snapshot.storage.k8s.io"
    )
    _, restored = await bound(cluster, "copy", data_source=source)
    assert _file(tmp_path, restored).read_text() == "before"
    assert _file(tmp_path, volume).read_text() == "after"
    await cluster.client.delete(found)
    await cluster.client.delete(taken)
    await cluster.wait_deleted(PersistentVolume, volume.metadata.name, "")
    await cluster.advance(5)
    assert [path.name for path in (tmp_path / "volumes").iterdir()] == [restored.metadata.name]
    assert list((tmp_path / "snapshots").iterdir()) == []


def _file(root: Path, volume: PersistentVolume) -> Path:
    folder = local_directory(root, volume)
    assert folder is not None
    return folder / "file"
