"""The driver of a device, its module and library loaded only now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from quintant.agents.deviceshifu.config.values import DeviceConfig, Instruction
from quintant.agents.deviceshifu.device import DeviceSpec
from quintant.agents.deviceshifu.device_api import DeviceApi
from quintant.agents.deviceshifu.drivers.address import DeviceDialer
from quintant.agents.deviceshifu.drivers.contained import ContainedDriver
from quintant.agents.deviceshifu.drivers.driver import Answer, Driver, not_connected
from quintant.agents.deviceshifu.options import AgentOptions
from quintant.http.request import Request
from quintant.wire.shifu import OPCUA_PORT, BadAddress, device_address, secret_consumer


class DriverParts(NamedTuple):
    """What drivers are made from."""

    options: AgentOptions
    spec: DeviceSpec
    dialer: DeviceDialer
    api: DeviceApi


Make = Callable[[DriverParts], Driver]


class NoDriver:
    """Stands where no driver can: says why, to whoever asks."""

    counts_readings = True
    busy = False

    def __init__(self, why: str) -> None:
        self._why = why

    def configure(self, config: DeviceConfig) -> None:
        """Nothing changes for it."""

    async def run(self) -> None:
        """There is no session."""

    async def call(self, request: Request, instruction: Instruction) -> Answer:
        """Say why."""
        raise not_connected(self._why)

    async def read(self, instruction: str, seconds: float | None) -> bytes:
        """Say why."""
        raise not_connected(self._why)

    async def check(self, seconds: float | None) -> None:
        """Say why."""
        raise not_connected(self._why)


def choose(parts: DriverParts) -> Driver:
    """The driver for a device; one that says why, where there is none."""
    spec = parts.spec
    if not spec.protocol:
        return NoDriver("the EdgeDevice names no protocol")
    if spec.protocol not in DRIVERS:
        return NoDriver(f"protocol {spec.protocol[:32]} is not served")
    try:
        return ContainedDriver(DRIVERS[spec.protocol](parts))
    except BadAddress as error:
        return NoDriver(str(error))
    except ImportError as error:
        return NoDriver(f"{error.name} is not installed: it comes with Quintant's extra devices")


def _http(parts: DriverParts) -> Driver:
    from quintant.agents.deviceshifu.drivers.http import PORT, HttpDriver

    return HttpDriver(parts.dialer, device_address(parts.spec.address, PORT))


def _mqtt(parts: DriverParts) -> Driver:
    from quintant.agents.deviceshifu.drivers.mqtt import PORT, MqttDriver
    from quintant.agents.deviceshifu.drivers.mqtt_login import mqtt_login

    address = device_address(parts.spec.address, PORT)
    return MqttDriver(
        parts.options.name,
        parts.dialer,
        address,
        partial(mqtt_login, parts.spec, parts.api, parts.options),
    )


def _socket(parts: DriverParts) -> Driver:
    from quintant.agents.deviceshifu.drivers.socket import SocketDriver, socket_format

    form = socket_format(parts.spec.settings)
    return SocketDriver(parts.dialer, device_address(parts.spec.address), form)


def _tcp(parts: DriverParts) -> Driver:
    from quintant.agents.deviceshifu.drivers.tcp import TcpDriver, listen_port

    port = listen_port(parts.spec.settings)
    return TcpDriver(parts.dialer, device_address(parts.spec.address), parts.options.listen, port)


def _opcua(parts: DriverParts) -> Driver:
    from quintant.agents.deviceshifu.drivers.opcua import OpcUaDriver
    from quintant.agents.deviceshifu.drivers.opcua_login import opcua_login

    settings = parts.spec.settings
    options, address = parts.options, parts.spec.address
    meant = secret_consumer(options.namespace, options.name, address, OPCUA_PORT)
    # A device that was pointed elsewhere a moment ago still has the Secret of where it was.
    mine = options.secret_for in ("", meant)
    login = opcua_login(settings, options.folder / "secret" if mine else None)
    return OpcUaDriver(parts.dialer, parts.spec.address, settings, login)


def _modbus(parts: DriverParts) -> Driver:
    from quintant.agents.deviceshifu.drivers.modbus import PORT, ModbusDriver

    return ModbusDriver(parts.dialer, device_address(parts.spec.address, PORT))


DRIVERS: dict[str, Make] = {
    "HTTP": _http, "MQTT": _mqtt, "Modbus": _modbus, "OPCUA": _opcua, "Socket": _socket,
    "TCP": _tcp,
}  # fmt: skip
