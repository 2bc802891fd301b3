"""TelemetryService: where telemetry is sent to. Upstream's kind, field by field."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.core.object import Custom, Model
from quintant.core.resource import resource
from quintant.operators.shifu.api.names import GROUP, VERSION
from quintant.operators.shifu.api.settings import MQTTSetting


class HTTPSetting(Model):
    """Who sends, to an HTTP endpoint that asks."""

    username: str = ""
    password: str = ""


class SQLSetting(Model):
    """A table of a database."""

    server_address: str
    username: str = ""
    secret: str = ""
    db_name: str = ""
    db_table: str = ""
    dbtype: str = ""


class MinIOSetting(Model):
    """A bucket."""

    bucket: str = msgspec.field(default="", name="Bucket")
    file_extension: str = msgspec.field(default="", name="FileExtension")
    server_address: str = msgspec.field(name="ServerAddress")
    secret: str = msgspec.field(default="", name="Secret")
    access_key: str = msgspec.field(default="", name="AccessKey")
    secret_key: str = msgspec.field(default="", name="SecretKey")
    request_timeout: int | None = msgspec.field(default=None, name="RequestTimeoutMS")


class ServiceSettings(Model):
    """What the receiving side needs to know."""

    http: HTTPSetting | None = msgspec.field(default=None, name="HTTPSetting")
    mqtt: MQTTSetting | None = msgspec.field(default=None, name="MQTTSetting")
    sql: SQLSetting | None = msgspec.field(default=None, name="SQLSetting")
    minio: MinIOSetting | None = msgspec.field(default=None, name="MinIOSetting")


class TelemetryServiceSpec(Model):
    """Where telemetry goes."""

    telemetry_service_endpoint: str = ""
    service_settings: ServiceSettings | None = None
    custom_metadata: Mapping[str, str] = {}


class TelemetryServiceStatus(Model):
    """Whether the service behind it runs."""

    phase: str = msgspec.field(default="", name="telemetryservicephase")


@resource(group=GROUP, version=VERSION, status=True)
class TelemetryService(Custom[TelemetryServiceSpec, TelemetryServiceStatus]):
    """A place that telemetry is sent to."""

    spec: TelemetryServiceSpec = TelemetryServiceSpec()
