"""CSI in one process, the component `directory-driver`: storage for claims and snapshots."""

from __future__ import annotations

from quintant.cluster.component.component import Component
from quintant.cluster.volumes import snapshots
from quintant.cluster.volumes.crds import first_objects
from quintant.cluster.volumes.directories import VolumeBackend
from quintant.cluster.volumes.provisioner import Provisioner
from quintant.cluster.volumes.snapshot_contents import Snapshotter
from quintant.runtime.manager.manager import Manager

NAME = "directory-driver"


def csi_driver(disk: VolumeBackend) -> Component:
    """The driver with its folders on a disk, and the kinds and classes that belong to it."""
    manager = Manager(NAME)
    Provisioner(disk).declare(manager)
    snapshots.declare(manager)
    Snapshotter(disk).declare(manager)
    return Component(manager, objects=first_objects())
