"""Which Secret a device logs in with, and what the Secret has to say to that. Pure."""

from __future__ import annotations

from quintant.operators.shifu.rules.hints import Device, Hints
from quintant.wire.shifu import DEFAULT_SECRET, OPCUA_PORT, secret_consumer

NOT_SHARED = "SecretNotShared"
_BY_NAME = "UserName"


def wanted_secret(device: Device, hints: Hints) -> str:
    """The Secret with a device's password; empty if it logs in without."""
    settings = device.spec.protocol_settings
    opcua = settings.opcua if settings is not None else None
    if device.spec.protocol != "OPCUA" or opcua is None or opcua.authentication_mode != _BY_NAME:
        return ""
    return hints.secret or DEFAULT_SECRET


def device_consumer(device: Device) -> str:
    """A device at its host, as Secrets list it."""
    return secret_consumer(device.key.namespace, device.key.name, device.spec.address, OPCUA_PORT)
