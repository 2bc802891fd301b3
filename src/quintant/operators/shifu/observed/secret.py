"""The Secret that a device logs in with: whether it is there, and for whom. Values alone."""

from __future__ import annotations

from dataclasses import dataclass

from quintant.api.core import Secret
from quintant.core.object import Object
from quintant.core.resource import projection
from quintant.wire.shifu import SECRET_DEVICES, is_shared, not_shared


@projection(of=Secret)
class DeviceSecret(Object):
    """A Secret in the namespace of deviceShifus, without what it holds."""

    @property
    def devices(self) -> str:
        """Those that it is for, as its annotation lists them."""
        return self.metadata.annotations.get(SECRET_DEVICES, "")


@dataclass(frozen=True, slots=True)
class SecretUse:
    """A device, and the Secret with its password."""

    consumer: str
    """The device at its host."""
    secret: DeviceSecret | None = None
    """None while there is none."""

    @property
    def shared(self) -> bool:
        """Whether it is this device's to have."""
        return self.secret is not None and is_shared(self.secret.devices, self.consumer)

    @property
    def fault(self) -> str:
        """What is wrong with a Secret that is there, and what to do; empty if nothing is."""
        if self.secret is None or self.shared:
            return ""
        meta = self.secret.metadata
        return not_shared(meta.name, meta.namespace, self.secret.devices, self.consumer)
