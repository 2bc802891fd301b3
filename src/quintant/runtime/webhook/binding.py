"""The webhooks of a manager, bound to where it runs: which certificate its server shows.

That of files, which another program renews; one of its own, in a Secret that its replicas share;
or, with a URL under which an API server reaches this process, one in memory, for development.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from quintant.api.admission import ServiceReference
from quintant.core.clock import Clock
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.runtime.cache.client import Client
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.settings import Settings
from quintant.runtime.webhook.certs import CertificateSource, MountedCertificates
from quintant.runtime.webhook.declaration import WebhookDeclarations
from quintant.runtime.webhook.publish import (
    Restore,
    address_restorer,
    ca_bundle_injector,
    configuration_publisher,
)
from quintant.runtime.webhook.server import WebhookServer


def build_webhook_server(
    webhooks: WebhookDeclarations,
    settings: Settings,
    *,
    client: Client,
    metrics: Metrics,
    clock: Clock,
    namespace: str,
) -> WebhookServer:
    """The server of these webhooks; `client` is what their handlers are given."""
    source: CertificateSource | None = None
    restore: Restore | None = None
    # Every replica answers reviews, leader or not, so this client has no fence.
    rest = replace(client.rest, fence=None)
    unfenced = Client(rest, manager=f"{settings.name}-webhooks")
    if settings.webhook_url:
        source = _laptop(webhooks, settings.webhook_url, unfenced, clock)
        restore = address_restorer(webhooks, unfenced)
    elif settings.certificates:
        source = MountedCertificates.mounted(Path(settings.certificates))
    elif settings.webhook_secret:
        home = Request(settings.webhook_secret, namespace)
        source = _shared(webhooks, home, unfenced, clock)
    return WebhookServer(webhooks, client=client, metrics=metrics, source=source, restore=restore)


# Both load `cryptography`, 10 MB that no other program should pay for.


def _laptop(
    webhooks: WebhookDeclarations, url: str, client: Client, clock: Clock
) -> CertificateSource:
    from quintant.runtime.webhook.selfsigned import SelfSignedCertificates

    return SelfSignedCertificates(
        (_host(url),),
        clock=clock,
        publish=configuration_publisher(webhooks, url, client),
    )


def _host(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise ConfigError(
            f"cannot register webhooks at {url!r}",
            because="an API server asks webhooks at https:// addresses only",
            hint="--webhook-url https://127.0.0.1:9443, as the API server reaches this process",
        )
    return parts.hostname


def _shared(
    webhooks: WebhookDeclarations, home: Request, client: Client, clock: Clock
) -> CertificateSource:
    from quintant.runtime.webhook.secret_certificates import SecretCertificates, service_names

    names = service_names(webhooks.name, home.namespace)
    service = ServiceReference(name=webhooks.name, namespace=home.namespace)
    publish = ca_bundle_injector(webhooks, service, client)
    return SecretCertificates(home, names, client=client, clock=clock, publish=publish)
