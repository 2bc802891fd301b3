"""Where volumes are: within the root, or where their author says."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.api.core import (
    CSIPersistentVolumeSource,
    HostPathVolumeSource,
    LocalVolumeSource,
    PersistentVolume,
    PersistentVolumeSpec,
)
from quintant.cluster.common.volume_paths import DRIVER, local_directory, snapshot_directory

ROOT = Path("/data")


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (
            PersistentVolumeSpec(
                csi=CSIPersistentVolumeSource(driver=DRIVER, volume_handle="pvc-1")
            ),
            "/data/volumes/pvc-1",
        ),
        (PersistentVolumeSpec(host_path=HostPathVolumeSource(path="/mnt/a")), "/mnt/a"),
        (PersistentVolumeSpec(local=LocalVolumeSource(path="/mnt/b")), "/mnt/b"),
    ],
)
def test_volume_of_this_machine_has_a_folder(spec: PersistentVolumeSpec, path: str) -> None:
    assert local_directory(ROOT, PersistentVolume(spec=spec)) == Path(path)


def test_volume_of_another_driver_has_none() -> None:
    spec = PersistentVolumeSpec(
        csi=CSIPersistentVolumeSource(driver="disk.example.com", volume_handle="pvc-1")
    )
    assert local_directory(ROOT, PersistentVolume(spec=spec)) is None


@pytest.mark.parametrize("handle", ["", ".", "..", "../a", "a/b", "/etc", "a\0b"])
def test_no_handle_leads_out_of_the_root(handle: str) -> None:
    spec = PersistentVolumeSpec(csi=CSIPersistentVolumeSource(driver=DRIVER, volume_handle=handle))
    assert local_directory(ROOT, PersistentVolume(spec=spec)) is None
    assert snapshot_directory(ROOT, handle) is None
