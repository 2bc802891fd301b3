"""Topics that are made when somebody looks at them, and go a while after the last one left."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import unquote

from quintant.console.publisher import Publisher
from quintant.console.topics import Topic

GRACE_SECONDS = 60.0
"""How long a topic is kept for when its viewer comes back, as on a reload."""
READY_SECONDS = 5.0
"""How long the first rows of a topic are waited for."""
MOST_TOPICS = 500
"""Topics that are made on demand, at once."""


class LiveTopic(Protocol):
    """A topic, and who keeps it true."""

    topic: Topic

    async def ready(self) -> None:
        """Return when it has its first rows."""

    def close(self) -> None:
        """Keep it true no more."""


class TopicMaker(Protocol):
    """Makes the topics whose names begin with one word."""

    def make(self, name: str, parts: Sequence[str]) -> LiveTopic | None:
        """The topic; None if there cannot be one of that name."""


class OnDemandTopics:
    """Every topic: those that are always there, and those that are made."""

    def __init__(self, publisher: Publisher, makers: Mapping[str, TopicMaker]) -> None:
        self._publisher, self._makers = publisher, makers
        self._live: dict[str, LiveTopic] = {}
        self._holders: dict[str, int] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def open(self, name: str) -> Topic | None:
        """A topic that has its first rows; None if there is none of that name."""
        word, *parts = (unquote(each) for each in name.split("/"))
        if word not in self._makers:
            return self._publisher.topics.get(name) or self._publisher.topics.get(unquote(name))
        name = "/".join([word, *parts])
        live = self._live.get(name) or self._make(name, word, parts)
        if live is None:
            return None
        self._schedule(name)
        try:
            async with asyncio.timeout(READY_SECONDS):
                await live.ready()
        except TimeoutError:  # it is shown as it is: empty, and its source says why
            live.topic.publish({})
        return live.topic

    def hold(self, topic: Topic) -> None:
        """Keep a topic that was made on demand while somebody looks."""
        if topic.name in self._live:
            self._holders[topic.name] = self._holders.get(topic.name, 0) + 1

    def release(self, topic: Topic) -> None:
        """Somebody looks no more."""
        if topic.name in self._live:
            self._holders[topic.name] = self._holders.get(topic.name, 1) - 1
            self._schedule(topic.name)

    def close(self) -> None:
        """End everything that was made."""
        for timer in self._timers.values():
            timer.cancel()
        for live in self._live.values():
            live.close()
        self._live.clear()

    def _make(self, name: str, word: str, parts: Sequence[str]) -> LiveTopic | None:
        if len(self._live) >= MOST_TOPICS:
            return None
        live = self._makers[word].make(name, parts)
        if live is not None:
            self._live[name] = live
        return live

    def _schedule(self, name: str) -> None:
        """Look in a while whether somebody still looks."""
        if name in self._timers:
            self._timers[name].cancel()
        loop = asyncio.get_running_loop()
        self._timers[name] = loop.call_later(GRACE_SECONDS, self._expire, name)

    def _expire(self, name: str) -> None:
        del self._timers[name]
        if self._holders.get(name, 0) <= 0:
            self._holders.pop(name, None)
            self._live.pop(name).close()
