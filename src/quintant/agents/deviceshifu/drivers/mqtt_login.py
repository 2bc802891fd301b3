"""Who a device's agent is to its broker: of the Secret that names both, or of the settings."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from quintant.agents.apiclient.errors import ApiRefused, ApiUnreachable
from quintant.agents.deviceshifu.device import DeviceSpec
from quintant.agents.deviceshifu.device_api import DeviceApi
from quintant.agents.deviceshifu.drivers.mqtt_client import MqttLogin
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.wire.shifu import (
    MQTT_PORT,
    SECRET_DEVICES,
    is_shared,
    not_shared,
    secret_consumer,
)


async def mqtt_login(spec: DeviceSpec, api: DeviceApi, options: AgentOptions) -> MqttLogin:
    """The login of an EdgeDevice: of the Secret that it names, else as its settings have it."""
    settings = spec.settings
    name, password = (settings.get(f"MQTTServer{part}") for part in ("UserName", "Password"))
    if secret := str(settings.get("MQTTServerSecret") or ""):
        try:
            found = await api.find("Secret", "secrets", secret)
        except (ApiRefused, ApiUnreachable, ValueError) as error:
            raise OSError(f"cannot read the Secret {secret}: {error}") from None
        if found is not None:
            _require_shared(found, secret, spec, options)
        name = _decoded(found, "username") or name
        password = _decoded(found, "password") or password
    return MqttLogin(str(name) if name else None, str(password) if password else None)


def _require_shared(
    secret: Mapping[str, Any], name: str, spec: DeviceSpec, options: AgentOptions
) -> None:
    """OSError if a Secret does not name this device at this broker."""
    listed = ((secret.get("metadata") or {}).get("annotations") or {}).get(SECRET_DEVICES) or ""
    consumer = secret_consumer(options.namespace, options.name, spec.address, MQTT_PORT)
    if not is_shared(str(listed), consumer):
        raise OSError(not_shared(name, options.namespace, str(listed), consumer))


def _decoded(secret: Mapping[str, Any] | None, key: str) -> str:
    text = ((secret or {}).get("data") or {}).get(key) or ""
    return base64.b64decode(text).decode("utf-8", "replace")
