"""A viewer's stream: what is new of its topics, as server-sent events, and a heartbeat.

A viewer has a version per topic and nothing else. When its line is full it is not asked for more;
when it has room again it gets what it missed, or the whole state if that is too long ago.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from quintant.console.publisher import HEARTBEAT_SECONDS, Publisher
from quintant.console.server.access import Viewer
from quintant.console.topics import Topic, encode_event

UNREAD_SECONDS = 30.0
"""How long a viewer may leave what it was sent unread before it is cut off; it comes back."""
RETRY = b"retry: 1000\n\n"
"""Milliseconds after which a browser connects again."""

PIECE_BYTES = 65_536
"""What is sent at once: the whole state of a large topic is held once, not once per viewer."""

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
}


async def follow_topics(
    topics: Sequence[Topic], publisher: Publisher, viewer: Viewer, unknown: Sequence[str] = ()
) -> AsyncGenerator[bytes, None]:
    """Send topics, and what becomes of them, until the viewer leaves or is no longer welcome.

    Of topics that are unknown it is said once that they are refused.
    """
    versions, epoch = dict.fromkeys(topics, 0), viewer.epoch
    beats = publisher.beats - 1
    yield RETRY + b"".join(_refused(name, 404, "there is no such topic") for name in unknown)
    while await viewer.refresh(topics):
        if epoch != viewer.epoch:
            versions, epoch = dict.fromkeys(topics, 0), viewer.epoch
        sent = False
        for topic in topics:
            if topic.version and (events := topic.events_since(versions[topic], viewer.allowed)):
                versions[topic], sent = topic.version, True
                for start in range(0, len(events), PIECE_BYTES):
                    yield events[start : start + PIECE_BYTES]
        if beats != publisher.beats and publisher.heartbeat:
            beats, sent = publisher.beats, True
            yield publisher.heartbeat
        if sent:
            # A sip of time for others, however fast things change.
            await asyncio.sleep(0)
        else:
            await publisher.wait(HEARTBEAT_SECONDS)
    for topic in topics:
        yield _refused(topic.name, 401, "the token is no longer good")


def _refused(topic: str, status: int, reason: str) -> bytes:
    return encode_event(
        "refused", msgspec.json.encode({"topic": topic, "status": status, "reason": reason})
    )


class ViewerCount:
    """How many streams are open, and how many may be."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.open: int = 0

    def enter(self) -> Callable[[], None] | None:
        """Count one more, until what is returned is called; None if there are too many."""
        if self.open >= self.most:
            return None
        self.open += 1
        left = False

        def leave() -> None:
            nonlocal left
            if not left:
                left = True
                self.open -= 1

        return leave
