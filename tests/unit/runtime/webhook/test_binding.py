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


async def test_missing_certificate_is_told_with_the_options_that_give_one() -> None:
    found = server(Settings("gates", certificates="/nowhere/at/all"))
    with pytest.raises(ConfigError) as caught:
        await found.certificates.load()
    told = str(caught.value).splitlines()
    assert told[0] == "cannot serve webhooks without a certificate"
    assert told[1].startswith("because: No such file")
    assert told[2].startswith("try: --webhook-url https://HOST:9443")
    assert "--webhook-secret" in told[2]


@pytest.mark.parametrize("url", ["127.0.0.1:9443", "http://127.0.0.1:9443", "https://"])
async def test_webhook_url_that_no_api_server_would_ask_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=f"cannot register webhooks at '{url}'\nbecause.*\ntry:"):
        server(Settings("gates", webhook_url=url))
