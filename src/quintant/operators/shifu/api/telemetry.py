"""TelemetryService: where telemetry is sent to. Upstream's kind, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from quintant.api.meta import Condition
from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.core.schema.markers import list_map
from quintant.operators.shifu.api.names import GROUP, VERSION
from quintant.operators.shifu.api.settings import MQTTSetting


class HTTPSetting(Model):
    """Who sends, to an HTTP endpoint that asks."""

    username: str = ""
    """Who we are."""
    password: str = ""
    """The password."""


class SQLSetting(Model):
    """A table of a database."""

    server_address: str
    """The database server, as host:port."""
    username: str = ""
    """Who we are."""
    secret: str = ""
    """The password, or a Secret with it."""
    db_name: str = ""
    """The database."""
    db_table: str = ""
    """The table."""
    dbtype: str = ""
    """What database it is, such as TDengine or MySQL."""


class MinIOSetting(Model):
    """A bucket."""

    bucket: str = msgspec.field(default="", name="Bucket")
    """The bucket's name."""
    file_extension: str = msgspec.field(default="", name="FileExtension")
    """The end of the files' names."""
    server_address: str = msgspec.field(name="ServerAddress")
    """The server, as host:port."""
    secret: str = msgspec.field(default="", name="Secret")
    """A Secret with both keys."""
    access_key: str = msgspec.field(default="", name="AccessKey")
    """The access key."""
    secret_key: str = msgspec.field(default="", name="SecretKey")
    """The secret key."""
    request_timeout: int | None = msgspec.field(default=None, name="RequestTimeoutMS")
    """How long a request may take, in milliseconds."""


class ServiceSettings(Model):
    """What the receiving side needs to know."""

    http: HTTPSetting | None = msgspec.field(default=None, name="HTTPSetting")
    mqtt: MQTTSetting | None = msgspec.field(default=None, name="MQTTSetting")
    sql: SQLSetting | None = msgspec.field(default=None, name="SQLSetting")
    minio: MinIOSetting | None = msgspec.field(default=None, name="MinIOSetting")


class TelemetryServiceSpec(Model):
    """Where telemetry goes."""

    telemetry_service_endpoint: str = ""
    """Where telemetry is sent to."""
    service_settings: ServiceSettings | None = None
    custom_metadata: Mapping[str, str] = {}
    """Further settings."""


class TelemetryServiceStatus(Model):
    """Whether the service behind it runs."""

    phase: str = msgspec.field(default="", name="telemetryservicephase")
    """Pending, Running, Failed or Unknown."""
    observed_generation: int | None = None
    """The generation of the spec that this status is about."""
    conditions: Annotated[tuple[Condition, ...], list_map("type")] = ()
    """What is true of it, one condition of each type."""


@resource(
    group=GROUP,
    version=VERSION,
    status=True,
    columns={
        "Endpoint": ".spec.telemetryServiceEndpoint",
        "Phase": ".status.telemetryservicephase",
        "Ready": r'.status.conditions[?(@.type=="Ready")].status',
        "Age": ".metadata.creationTimestamp",
    },
)
class TelemetryService(Custom[TelemetryServiceSpec, TelemetryServiceStatus]):
    """A place that telemetry is sent to."""

    spec: TelemetryServiceSpec = TelemetryServiceSpec()
