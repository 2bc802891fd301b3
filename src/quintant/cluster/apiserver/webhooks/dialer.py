"""HookClient: how a webhook is reached: over HTTPS, or in this process under virtual time.

A `WebhookDialer` is given to the server. What it raises when nobody answers is
`WebhookUnreachable`, in the words of a real server, for they are shown to whoever asked for the
change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from quintant.client.transport import ApiResponse
from quintant.core.address import BindAddress


class WebhookUnreachable(Exception):
    """Nobody answered, or not somebody to be trusted; the text says why."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """What is posted to a webhook."""

    url: str
    body: bytes = field(repr=False)
    bundle: bytes = b""
    """The authorities to trust (PEM); the machine's own if empty."""
    locate: Callable[[], BindAddress] | None = None
    """Where to connect, if not where the URL says; WebhookUnreachable if that is nowhere."""


class WebhookDialer(Protocol):
    """Posts a letter and returns what comes back, whatever its status."""

    async def post(self, webhook_request: WebhookRequest) -> ApiResponse: ...
