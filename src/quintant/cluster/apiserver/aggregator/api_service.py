"""APIService, proxyHandlingInfo: which server serves a group at a version, as a stored one says."""

from __future__ import annotations

from base64 import b64decode

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.kinds import stored_json
from quintant.cluster.apiserver.storage.history import StoredEntry
from quintant.cluster.apiserver.webhooks.configuration import WebhookService

GROUP, PLURAL = "apiregistration.k8s.io", "apiservices"
TABLE = f"{PLURAL}.{GROUP}"
AVAILABLE = "Available"
OWN_GROUPS = frozenset({"", GROUP})
"""Always served here: a cluster whose core or whose APIServices are elsewhere cannot be mended."""
_PORT = 443


class RemoteApi(Struct, frozen=True):
    """A group at a version that an extension server serves, and how that is reached."""

    name: str
    group: str
    version: str
    service: WebhookService
    group_priority: int
    version_priority: int
    bundle: bytes = b""
    """The authorities to trust (PEM); the machine's own if empty."""
    insecure: bool = False
    """Whoever answers is believed."""

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.version

    @property
    def path(self) -> str:
        """What the server has to answer, if it serves the version at all."""
        return f"/apis/{self.group}/{self.version}"

    @property
    def server_name(self) -> str:
        """What its certificate has to be for."""
        return f"{self.service.name}.{self.service.namespace}.svc"


class _Service(Struct, frozen=True):
    namespace: str = ""
    name: str = ""
    port: int = _PORT


class _Spec(Struct, frozen=True, rename="camel"):
    group: str = ""
    version: str = ""
    service: _Service | None = None
    ca_bundle: str | None = msgspec.field(name="caBundle", default=None)
    insecure: bool = msgspec.field(name="insecureSkipTLSVerify", default=False)
    group_priority_minimum: int = 0
    version_priority: int = 0


class _Condition(Struct, frozen=True):
    type: str = ""
    status: str = ""


class _Status(Struct, frozen=True):
    conditions: tuple[_Condition, ...] | None = None


class _Meta(Struct, frozen=True):
    name: str = ""
    labels: dict[str, str] | None = None


class ApiService(Struct, frozen=True):
    """An APIService, as far as it matters here."""

    metadata: _Meta = _Meta()
    spec: _Spec = _Spec()
    status: _Status = _Status()

    @property
    def available(self) -> bool:
        """Whether its condition says that requests may be passed on."""
        found = (each.status for each in self.status.conditions or () if each.type == AVAILABLE)
        return next(found, "") == "True"

    @property
    def remote(self) -> RemoteApi | None:
        """What another server serves, if one does."""
        spec, service = self.spec, self.spec.service
        if service is None or spec.group in OWN_GROUPS:
            return None
        return RemoteApi(
            self.metadata.name,
            spec.group,
            spec.version,
            WebhookService(service.name, service.namespace, service.port),
            spec.group_priority_minimum,
            spec.version_priority,
            b64decode(spec.ca_bundle or ""),
            spec.insecure,
        )


def read_api_service(entry: StoredEntry) -> ApiService:
    """A stored APIService."""
    return stored_json.read(entry, ApiService)
