"""Webhooks of a test's managers, asked by its cluster without a socket, under virtual time.

Every manager's webhooks have a place of their own, an https:// URL that exists nowhere else. While
the manager runs, reviews that are posted there are answered by it; not before, nor after.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.webhooks.dialer import WebhookRequest, WebhookUnreachable
from quintant.runtime.webhook.review import ReviewHandler


def webhook_url(manager: str) -> str:
    """Where the webhooks of a manager are in a test."""
    return f"https://{manager}.webhooks.test"


class InProcessDialer:
    """Delivers reviews within the process."""

    def __init__(self) -> None:
        self._served: list[tuple[str, ReviewHandler]] = []

    def serve(self, url: str, reviews: ReviewHandler) -> None:
        """Have reviews answered at a place; of several that do, the last one answers."""
        self._served.append((url, reviews))

    def leave(self, reviews: ReviewHandler) -> None:
        """Have them answer no longer."""
        self._served = [pair for pair in self._served if pair[1] is not reviews]

    async def post(self, letter: WebhookRequest) -> ApiResponse:
        """Post a review to the manager at its URL; Unreachable if there is none."""
        parts = urlsplit(letter.url)
        address = f"{parts.scheme}://{parts.netloc}"
        found = [reviews for known, reviews in self._served if known == address]
        if not found:
            why = f"dial tcp {parts.netloc}: connect: connection refused"
            raise WebhookUnreachable(f'Post "{letter.url}": {why}')
        return await found[-1].answer(f"{parts.path}?{parts.query}", letter.body)
