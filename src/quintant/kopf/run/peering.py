"""Peers: operators for the same objects, of which the one with the highest priority works.

Each writes itself into the status of a KopfPeering, again before its lifetime is over. One that
sees a live peer with a higher priority pauses; of two with the same, both do. A cluster without
such an object has no peers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from quintant.client.rest import MERGE, Rest
from quintant.client.transport import JSON
from quintant.core.clock import Clock, Random, find_timestamp
from quintant.core.errors import NotFound, QuintantError
from quintant.kopf.declare.resource import Resource
from quintant.kopf.declare.settings import PeeringSettings
from quintant.runtime.observe.logs import get_logger

GROUPS = ("kopf.dev", "zalando.org")
CLUSTERWIDE, NAMESPACED = "clusterkopfpeerings", "kopfpeerings"
FORGOTTEN = {"lifetime": 0}

log: Final = get_logger()


class Peering:
    """One operator among its peers, in one peering object."""

    def __init__(
        self,
        rest: Rest,
        resource: Resource,
        namespace: str,
        identity: str,
        settings: PeeringSettings,
        *,
        clock: Clock,
        random: Random,
        conflicting: Callable[[bool], None],
    ) -> None:
        self._rest, self._resource, self._namespace = rest, resource, namespace
        self._identity, self._settings = identity, settings
        self._clock, self._random, self._conflicting = clock, random, conflicting
        self._peers: Mapping[str, Any] = {}
        self._timer: asyncio.TimerHandle | None = None

    def report(self, type: str | None, raw: dict[str, Any]) -> None:
        """See who else is there."""
        if raw["metadata"].get("name") != self._settings.name:
            return
        status = raw.get("status")
        self._peers = status if type != "DELETED" and isinstance(status, dict) else {}
        self._judge()

    async def keep_alive(self) -> None:
        """Say that this operator is there, until cancelled; then that it is not."""
        try:
            while True:
                await self._say(self._settings.lifetime)
                lifetime = self._settings.lifetime
                await asyncio.sleep(max(1.0, min(lifetime, lifetime - self._random.uniform(5, 10))))
        finally:
            if self._timer is not None:
                self._timer.cancel()
            await asyncio.shield(self._say(0))

    async def _say(self, lifetime: int) -> None:
        now = self._clock.now()
        entry = {"priority": self._settings.priority, "lifetime": lifetime}
        seen = {**entry, "lastseen": now.isoformat()} if lifetime else None
        body = msgspec.json.encode({"status": {self._identity: seen}})
        path = self._resource.api.path(self._namespace, self._settings.name)
        headers = {"content-type": MERGE, "accept": JSON}
        try:
            await self._rest.send(self._rest.write_call("PATCH", path, {}, headers, body))
        except NotFound:
            return  # no peering object: there are no peers
        except QuintantError as error:
            log.warning("peers not told", why=str(error))

    def _judge(self) -> None:
        """Pause or go on, and look again when the first of those that matter counts as dead."""
        now = self._clock.now()
        rivals = [end for end in map(self._deadline, self._peers.items()) if end and end > now]
        self._conflicting(bool(rivals))
        if self._timer is not None:
            self._timer.cancel()
        if rivals:
            wait = (min(rivals) - now).total_seconds()
            self._timer = asyncio.get_running_loop().call_later(wait, self._judge)

    def _deadline(self, peer: tuple[str, Any]) -> datetime | None:
        """Until when a peer keeps us from working, if it does."""
        identity, entry = peer
        if identity == self._identity or not isinstance(entry, Mapping):
            return None
        priority, lifetime = entry.get("priority", 0), entry.get("lifetime", 60)
        seen = find_timestamp(str(entry.get("lastseen") or ""))
        if not isinstance(priority, int) or not isinstance(lifetime, int | float):
            return None
        if priority < self._settings.priority or seen is None:
            return None
        return seen + timedelta(seconds=lifetime)
