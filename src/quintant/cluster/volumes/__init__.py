"""Storage of the embedded cluster: volumes and snapshots that are folders of this machine.

It runs as the component `directory-driver`: what a CSI driver with its sidecars is to a real
cluster. Binding claims to volumes is the controllers' work (quintant.cluster.controllers).

    directories  makes, copies and removes the folders (reflink: how it copies)
    provisioner  volumes for claims          sources   what they are filled from
    snapshots    contents for snapshots      snapshot_names     their names and status (pure)
    snapshot_contents  copies for contents   crds      the kinds and classes a cluster has for it

Where a volume is, and what the kubelet mounts, is in quintant.cluster.common.volume_paths.
"""
