"""The component `directory-driver`: storage for claims and snapshots, for as long as it runs."""

from __future__ import annotations

from quintant.cluster.component.component import Component
from quintant.cluster.storage import snapshots
from quintant.cluster.storage.contents import Snapshotter
from quintant.cluster.storage.definitions import first_objects
from quintant.cluster.storage.disk import Disk
from quintant.cluster.storage.provisioner import Provisioner
from quintant.runtime.manager.manager import Manager

NAME = "directory-driver"


def driver(disk: Disk) -> Component:
    """The driver with its folders on a disk, and the kinds and classes that belong to it."""
    manager = Manager(NAME)
    Provisioner(disk).declare(manager)
    snapshots.declare(manager)
    Snapshotter(disk).declare(manager)
    return Component(manager, objects=first_objects())
