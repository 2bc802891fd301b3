"""The variables of a deviceShifu's containers. Pure."""

from __future__ import annotations

from typing import NamedTuple

from quintant.api.core import EnvVar, EnvVarSource, ObjectFieldSelector
from quintant.operators.shifu.api.names import NAME_VARIABLE, NAMESPACE_VARIABLE
from quintant.operators.shifu.rules.hints import Device
from quintant.wire.shifu import EXCLUSIVE_RELEASE, SECRET_FOR, SPECIAL_ADDRESSES

_ENV = "env."
"""How keys of customMetadata begin that become variables of a driver."""


class MountedSecret(NamedTuple):
    """A Secret, and the one device and host that it is for."""

    name: str
    consumer: str


def agent_variables(
    device: Device, secret: MountedSecret | None, release: float | None
) -> tuple[EnvVar, ...]:
    """Which device it is, where the agent runs, what its Secret is for, and when it lets go.

    The agent holds itself to its Secret: a device can be pointed elsewhere before its pod is new.
    """
    mounted = () if secret is None else (EnvVar(name=SECRET_FOR, value=secret.consumer),)
    exclusive = () if release is None else (EnvVar(name=EXCLUSIVE_RELEASE, value=f"{release:g}"),)
    return (
        EnvVar(name=NAME_VARIABLE, value=device.metadata.name),
        EnvVar(name=NAMESPACE_VARIABLE, value=device.metadata.namespace),
        _field("NODE_NAME", "spec.nodeName"),
        _field("POD_IP", "status.podIP"),
        EnvVar(name="LOG_LEVEL", value="info"),
        *mounted,
        *exclusive,
    )


def address_variables(special: bool) -> tuple[EnvVar, ...]:
    """Where a device may be; nothing where the agent's own rule is meant."""
    return (EnvVar(name=SPECIAL_ADDRESSES, value="true"),) if special else ()


def driver_variables(device: Device) -> tuple[EnvVar, ...]:
    """What a device's customMetadata says to its driver."""
    return tuple(
        EnvVar(name=key.removeprefix(_ENV), value=value)
        for key, value in sorted(device.spec.custom_metadata.items())
        if key.startswith(_ENV) and key != _ENV
    )


def _field(name: str, path: str) -> EnvVar:
    return EnvVar(
        name=name, value_from=EnvVarSource(field_ref=ObjectFieldSelector(field_path=path))
    )
