"""The webhooks of a manager, bound to where it runs: which certificate its server shows.

That of files, which somebody else renews; or, with a URL under which an API server reaches this
process, one that the process signs and publishes itself, for development.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from quintant.runtime.client.client import Client
from quintant.runtime.clock import Clock
from quintant.runtime.metrics import Metrics
from quintant.runtime.settings import Settings
from quintant.runtime.webhook.certs import Files, Source
from quintant.runtime.webhook.declaration import Webhooks
from quintant.runtime.webhook.publish import publishing
from quintant.runtime.webhook.server import WebhookServer


def bound(
    webhooks: Webhooks, settings: Settings, *, client: Client, metrics: Metrics, clock: Clock
) -> WebhookServer:
    """The server of these webhooks; `client` is what their handlers are given."""
    source: Source | None = None
    if settings.webhook_url:
        source = _own(webhooks, settings, client, clock)
    elif settings.certificates:
        source = Files.mounted(Path(settings.certificates))
    return WebhookServer(webhooks, client=client, metrics=metrics, source=source)


def _own(webhooks: Webhooks, settings: Settings, client: Client, clock: Clock) -> Source:
    # It loads `cryptography`, 10 MB that no other program should pay for.
    from quintant.runtime.webhook.selfsigned import SelfSigned

    name = urlsplit(settings.webhook_url).hostname or ""
    # Every replica answers reviews, leader or not, so this client has no fence.
    unfenced = Client(client.rest, manager=f"{settings.name}-webhooks")
    publish = publishing(webhooks, settings.webhook_url, unfenced)
    return SelfSigned((name,), clock=clock, publish=publish)
