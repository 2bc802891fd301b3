"""Storage of the embedded cluster: volumes and snapshots that are folders of this machine.

`paths` says where a volume is; the node mounts what it says. `disk` makes, copies and removes the
folders, and `driver` is who does so for claims and snapshots: what a CSI driver with its sidecars
is to a real cluster. Binding claims to volumes is the controllers' work
(quintant.cluster.controllers).
"""
