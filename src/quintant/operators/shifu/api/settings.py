"""Settings of protocols, as EdgeDevices and TelemetryServices carry them.

Names on the wire are upstream's, with their odd capitals; manifests made for it apply unchanged.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from quintant.core.markers import default
from quintant.core.object import Model


class MQTTSetting(Model):
    """A topic of a broker."""

    topic: str = msgspec.field(default="", name="MQTTTopic")
    server_address: str = msgspec.field(default="", name="MQTTServerAddress")
    server_secret: str = msgspec.field(default="", name="MQTTServerSecret")
    server_user_name: str = msgspec.field(default="", name="MQTTServerUserName")
    server_password: str = msgspec.field(default="", name="MQTTServerPassword")


class OPCUASetting(Model):
    """How to speak to an OPC UA server."""

    endpoint: str = msgspec.field(default="", name="OPCUAEndpoint")
    security_mode: str = msgspec.field(default="", name="SecurityMode")
    authentication_mode: str = msgspec.field(default="", name="AuthenticationMode")
    certificate_file_name: str = msgspec.field(default="", name="CertificateFileName")
    private_key_file_name: str = msgspec.field(default="", name="PrivateKeyFileName")
    configmap_name: str = msgspec.field(default="", name="ConfigmapName")
    issued_token: str = msgspec.field(default="", name="IssuedToken")
    security_policy: str = msgspec.field(default="", name="SecurityPolicy")
    username: str = msgspec.field(default="", name="Username")
    password: str = msgspec.field(default="", name="Password")
    connection_timeout: int | None = msgspec.field(
        default=None, name="ConnectionTimeoutInMilliseconds"
    )


class SocketSetting(Model):
    """How bytes go over a socket."""

    encoding: Annotated[str | None, default("utf-8")] = None
    buffer_length: Annotated[int | None, default(1024)] = None
    network_type: str = ""


class TCPSetting(Model):
    """Where a device's TCP port is forwarded from."""

    network_type: Annotated[str | None, default("tcp")] = msgspec.field(
        default=None, name="NetworkType"
    )
    listen_port: Annotated[str | None, default("8081")] = msgspec.field(
        default=None, name="ListenPort"
    )


class LwM2MSetting(Model):
    """How a LwM2M device dials in."""

    endpoint_name: str
    security_mode: Annotated[str | None, default("None")] = None
    dtls_mode: str = ""
    cipher_suites: tuple[str, ...] = ()
    psk_identity: str = ""
    psk_key: str = ""
    ping_interval_sec: Annotated[int | None, default(-1)] = None
    life_time_sec: Annotated[int | None, default(247)] = None
    update_interval_sec: Annotated[int | None, Meta(ge=1), default(60)] = None
    observe_interval_sec: Annotated[int | None, default(30)] = None


class PLC4XSetting(Model):
    """Of old manifests; it is kept, and nothing reads it."""

    protocol: str = ""


class ProtocolSettings(Model):
    """What a protocol needs to know beyond the address."""

    mqtt: MQTTSetting | None = msgspec.field(default=None, name="MQTTSetting")
    opcua: OPCUASetting | None = msgspec.field(default=None, name="OPCUASetting")
    socket: SocketSetting | None = msgspec.field(default=None, name="SocketSetting")
    tcp: TCPSetting | None = msgspec.field(default=None, name="TCPSetting")
    lwm2m: LwM2MSetting | None = msgspec.field(default=None, name="LwM2MSetting")
    plc4x: PLC4XSetting | None = msgspec.field(default=None, name="PLC4XSetting")


class GatewaySettings(Model):
    """A gateway that speaks for the device."""

    protocol: str = ""
    address: str = ""
    lwm2m: LwM2MSetting | None = msgspec.field(default=None, name="LwM2MSetting")
