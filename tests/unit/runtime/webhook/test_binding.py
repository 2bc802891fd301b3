"""Which certificate a manager's webhook server shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from quintant.core.clock import LoopClock
from quintant.core.errors import ConfigError
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.settings import Settings
from quintant.runtime.webhook import WebhookDeclarations
from quintant.runtime.webhook.binding import build_webhook_server
from quintant.runtime.webhook.server import MOUNTED, WebhookServer
from unit.runtime.webhook.kinds import client


def server(settings: Settings) -> WebhookServer:
    webhooks = WebhookDeclarations(settings.name)
    return build_webhook_server(
        webhooks, settings, client=client(), metrics=Metrics(), clock=LoopClock(), namespace="home"
    )


async def test_certificate_is_that_of_the_folder_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=str(tmp_path)):
        await server(Settings("gates", certificates=str(tmp_path))).certificates.load()


async def test_certificate_is_where_kubebuilder_mounts_it_if_nothing_is_said() -> None:
    with pytest.raises(ConfigError, match=str(MOUNTED)):
        await server(Settings("gates")).certificates.load()


async def test_server_with_a_url_signs_for_itself() -> None:
    signing = server(Settings("gates", webhook_url="https://gates.example.com:9443"))
    await signing.certificates.load()
    assert signing.certificates.context is not None
