"""Storage of the embedded cluster: volumes and snapshots that are folders of this machine.

It runs as the component `directory-driver`: what a CSI driver with its sidecars is to a real
cluster. Binding claims to volumes is the controllers' work (quintant.cluster.controllers).

    paths        where a volume is; the node mounts what it says
    disk         makes, copies and removes the folders (copying: how)
    provisioner  volumes for claims          sources   what they are filled from
    snapshots    contents for snapshots (copies: pure)   contents  copies for contents
    definitions  the kinds and classes that a cluster has for it
"""
