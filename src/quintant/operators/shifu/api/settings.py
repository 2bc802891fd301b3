"""Settings of protocols, as EdgeDevices and TelemetryServices carry them.

Names on the wire are upstream's, with their odd capitals; manifests made for it apply unchanged.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from quintant.core.object import Model
from quintant.core.schema.markers import default


class MQTTSetting(Model):
    """A topic of a broker."""

    topic: str = msgspec.field(default="", name="MQTTTopic")
    """The topic."""
    server_address: str = msgspec.field(default="", name="MQTTServerAddress")
    """The broker, as host:port."""
    server_secret: str = msgspec.field(default="", name="MQTTServerSecret")
    """A Secret with the password."""
    server_user_name: str = msgspec.field(default="", name="MQTTServerUserName")
    """Who we are to the broker."""
    server_password: str = msgspec.field(default="", name="MQTTServerPassword")
    """The password; better in a Secret."""


class OPCUASetting(Model):
    """How to speak to an OPC UA server."""

    endpoint: str = msgspec.field(default="", name="OPCUAEndpoint")
    """The server, as opc.tcp://host:port."""
    security_mode: str = msgspec.field(default="", name="SecurityMode")
    """None, Sign or SignAndEncrypt."""
    authentication_mode: str = msgspec.field(default="", name="AuthenticationMode")
    """Anonymous, UserName, Certificate or IssuedToken."""
    certificate_file_name: str = msgspec.field(default="", name="CertificateFileName")
    """The key of the ConfigMap with our certificate."""
    private_key_file_name: str = msgspec.field(default="", name="PrivateKeyFileName")
    """The key of the ConfigMap with our private key."""
    configmap_name: str = msgspec.field(default="", name="ConfigmapName")
    """The ConfigMap with certificate and key."""
    issued_token: str = msgspec.field(default="", name="IssuedToken")
    """The token, for IssuedToken."""
    security_policy: str = msgspec.field(default="", name="SecurityPolicy")
    """The policy, such as Basic256Sha256."""
    username: str = msgspec.field(default="", name="Username")
    """Who we are, for UserName."""
    password: str = msgspec.field(default="", name="Password")
    """The password, for UserName."""
    connection_timeout: int | None = msgspec.field(
        default=None, name="ConnectionTimeoutInMilliseconds"
    )
    """How long connecting may take, in milliseconds."""


class SocketSetting(Model):
    """How bytes go over a socket."""

    encoding: Annotated[str | None, default("utf-8")] = None
    """How text becomes bytes: utf-8 or hex."""
    buffer_length: Annotated[int | None, default(1024)] = None
    """How many bytes are read of an answer."""
    network_type: str = ""
    """tcp or udp."""


class TCPSetting(Model):
    """Where a device's TCP port is forwarded from."""

    network_type: Annotated[str | None, default("tcp")] = msgspec.field(
        default=None, name="NetworkType"
    )
    """tcp."""
    listen_port: Annotated[str | None, default("8081")] = msgspec.field(
        default=None, name="ListenPort"
    )
    """The port of the deviceShifu that is forwarded."""


class LwM2MSetting(Model):
    """How a LwM2M device dials in."""

    endpoint_name: str
    """What the device calls itself."""
    security_mode: Annotated[str | None, default("None")] = None
    """None or DTLS."""
    dtls_mode: str = ""
    """How DTLS is keyed, such as PSK."""
    cipher_suites: tuple[str, ...] = ()
    """The ciphers that are accepted."""
    psk_identity: str = ""
    """The identity of the shared key."""
    psk_key: str = ""
    """The shared key."""
    ping_interval_sec: Annotated[int | None, default(-1)] = None
    """How often it is pinged, in seconds; -1 for never."""
    life_time_sec: Annotated[int | None, default(247)] = None
    """How long a registration lasts, in seconds."""
    update_interval_sec: Annotated[int | None, Meta(ge=1), default(60)] = None
    """How often a registration is renewed, in seconds."""
    observe_interval_sec: Annotated[int | None, default(30)] = None
    """How often what is observed is told, in seconds."""


class PLC4XSetting(Model):
    """Of old manifests; it is kept, and nothing reads it."""

    protocol: str = ""
    """The protocol's name."""


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
    """What the gateway speaks."""
    address: str = ""
    """Where the gateway is."""
    lwm2m: LwM2MSetting | None = msgspec.field(default=None, name="LwM2MSetting")
