"""One reading to one TelemetryService: straight to an HTTP endpoint, or by the service to MQTT.

The wire is upstream's: over HTTP the reading is the body, with a field Device-Name; for MQTT the
telemetry service at the endpoint gets settings and reading as JSON, and publishes.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.text import one_line
from quintant.http.client_connection import ClientConnection, ConnectionBroken, ResponseTooLarge
from quintant.http.encode_request import encode_request, header_line
from quintant.http.head import ProtocolError
from quintant.wire.shifu import BadAddress, device_address

SECONDS = 5.0
ANSWER_BYTES = 64 * 1024
_FAILURES = (ConnectionBroken, ResponseTooLarge, ProtocolError, OSError, TimeoutError)

_NOT_TAKEN = (400, 411, 413, 414, 415, 422, 431)
"""Statuses that are about the reading, and not about where it is sent."""

Plain = Mapping[str, Any]


class PushFailed(Exception):
    """A reading was not taken; the text says why."""


class PushRefused(PushFailed):
    """The service is there, and does not take this reading."""


class Sender:
    """Sends the readings of one device."""

    def __init__(self, device: str, dialer: DeviceDialer) -> None:
        self._device, self._dialer = device, dialer

    async def send(self, spec: Plain, value: bytes) -> None:
        """Send a reading to where the spec of a TelemetryService says; PushFailed if it is not."""
        settings = spec.get("serviceSettings")
        settings = settings if isinstance(settings, Mapping) else {}
        url = str(spec.get("telemetryServiceEndpoint") or "")
        if (mqtt := settings.get("MQTTSetting")) is not None:
            body = {"rawData": base64.b64encode(value).decode(), "mqttSetting": mqtt}
            await self._post(f"{url.rstrip('/')}/mqtt", json.dumps(body).encode(), {})
        elif settings.keys() & {"SQLSetting", "MinIOSetting"}:
            raise PushFailed("TelemetryServices of SQL and MinIO are not served")
        else:
            await self._post(url, value, _authorization(settings.get("HTTPSetting")))

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme != "http":
            raise PushFailed(f"endpoint {one_line(url)} is not of http")
        try:
            address = device_address(parts.netloc, 80)
            fields = {"Host": parts.netloc, "Device-Name": self._device, **headers}
            lines = "".join(header_line(name, text) for name, text in fields.items())
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            async with asyncio.timeout(SECONDS):
                connection = await self._dialer.connect(lambda: ClientConnection(_unheard), address)
                data = encode_request("POST", target, lines, body)
                head, _ = await connection.request("POST", data, most=ANSWER_BYTES, seconds=SECONDS)
            connection.close()
        except (BadAddress, ValueError) as error:
            raise PushFailed(str(error)) from None
        except _FAILURES as error:
            why = one_line(str(error)) or type(error).__name__
            raise PushFailed(f"{address} did not take it: {why}") from None
        if head.status in _NOT_TAKEN:
            raise PushRefused(f"{address} answered {head.status}")
        if not 200 <= head.status < 300:
            raise PushFailed(f"{address} answered {head.status}")


def _authorization(setting: Any) -> Mapping[str, str]:
    if not isinstance(setting, Mapping) or not setting.get("username"):
        return {}
    pair = f"{setting['username']}:{setting.get('password') or ''}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _unheard(_: ClientConnection) -> None:
    """Nobody waits for the end of the connection."""
