"""HookClient, ClientManager: webhooks over HTTPS: a connection to each server, kept between calls.

What is not used for a while is closed, so that a webhook that moved, or whose configuration is
gone, does not hold a connection; nothing outlives `close`.
"""

from __future__ import annotations

import asyncio
from urllib.parse import SplitResult, urlsplit

from quintant.client.http.idle import IDLE_SECONDS
from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.golang.tls_config import NO_BUNDLE
from quintant.cluster.apiserver.webhooks.connection import (
    InvalidBundle,
    WebhookAddress,
    WebhookConnections,
)
from quintant.cluster.apiserver.webhooks.dial_errors import FAILURES, explain_dial_error
from quintant.cluster.apiserver.webhooks.dialer import WebhookRequest, WebhookUnreachable
from quintant.core.clock import monotonic

MOST_ADDRESSES = 64
"""Places with a line of their own: more than there are webhook servers in a cluster."""
_PORT = 443


class HttpsDialer:
    """Posts over HTTPS, on one event loop; whoever makes it closes it."""

    def __init__(self) -> None:
        self._lines: dict[WebhookAddress, WebhookConnections] = {}
        self._tidying: asyncio.TimerHandle | None = None
        self._closed = False

    async def post(self, webhook_request: WebhookRequest) -> ApiResponse:
        """Post and wait; whoever calls limits the time."""
        url = urlsplit(webhook_request.url)
        address = _address(webhook_request, url)
        try:
            line = self._connections_to(address)
        except InvalidBundle:
            raise WebhookUnreachable(NO_BUNDLE) from None
        target = url._replace(scheme="", netloc="", path=url.path or "/").geturl()
        try:
            return await line.post(target, webhook_request.body)
        except FAILURES as error:
            raise WebhookUnreachable(
                explain_dial_error(error, webhook_request.url, address)
            ) from None
        finally:
            self._schedule_cleanup()

    def close(self) -> None:
        """Close every connection: what rests at once, and what is in use after its answer."""
        self._closed = True
        for line in self._lines.values():
            line.retire()
        if self._tidying is not None:
            self._tidying.cancel()

    def _connections_to(self, address: WebhookAddress) -> WebhookConnections:
        """The line to a place, which is then the last one to be given up for others."""
        line = self._lines.pop(address, None) or WebhookConnections(address)
        self._lines[address] = line
        if self._closed:
            line.retire()
        if len(self._lines) > MOST_ADDRESSES:
            self._lines.pop(next(iter(self._lines))).retire()
        return line

    def _schedule_cleanup(self) -> None:
        """Have unused connections closed in a while."""
        if self._tidying is None and not self._closed:
            loop = asyncio.get_running_loop()
            self._tidying = loop.call_later(IDLE_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._tidying = None
        busy = [line for line in self._lines.values() if line.tidy(monotonic())]
        if busy:
            self._schedule_cleanup()


def _address(webhook_request: WebhookRequest, url: SplitResult) -> WebhookAddress:
    """Where to connect, and as whom the server proves itself; WebhookUnreachable if nowhere."""
    name = url.hostname or ""
    if webhook_request.locate is None:
        return WebhookAddress(name, url.port or _PORT, name, url.netloc, webhook_request.bundle)
    try:
        at = webhook_request.locate()
    except WebhookUnreachable as error:
        raise WebhookUnreachable(f'Post "{webhook_request.url}": {error}') from None
    return WebhookAddress(at.host, at.port, name, url.netloc, webhook_request.bundle)
