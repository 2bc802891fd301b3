"""Storage classes: how volumes are made."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.core.object import Object
from quintant.core.resource import resource


@resource(group="storage.k8s.io", version="v1", namespaced=False)
class StorageClass(Object):
    """A way to make volumes; `allow_volume_expansion` says whether they may grow later."""

    provisioner: str = ""
    parameters: Mapping[str, str] = {}
    reclaim_policy: str | None = None
    mount_options: tuple[str, ...] = ()
    allow_volume_expansion: bool | None = None
    volume_binding_mode: str | None = None
