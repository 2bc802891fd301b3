"""Burying a process of this machine that is known to be over, without waiting for its silence.

Members bury each other after 17 s of silence, because they cannot know more. A parent that has
reaped its child knows that it will never write again: what is left is a write that was sent, and
the server gives that 5 s. Burial is the same: the Lease is emptied on top of the version read.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

from quintant.api.coordination import Lease, LeaseSpec
from quintant.core.deadline import bounded
from quintant.core.errors import Conflict, QuintantError
from quintant.runtime.leader.lease import LEASE_SECONDS, RENEW_SECONDS
from quintant.runtime.leader.lease_client import LeaseClient
from quintant.runtime.observe.logs import get_logger
from quintant.runtime.shard.member import MANAGER

SENT_WRITE_SECONDS = LEASE_SECONDS - RENEW_SECONDS
"""What a write may take that was sent in the last moment."""
CALL_SECONDS = 3.0
PAUSE_SECONDS = 1.0
MOST_ATTEMPTS = 12
"""Then other members have noticed by themselves."""

log: Final = get_logger()


async def bury_reaped(leases: LeaseClient, group: str, identity: str) -> None:
    """Bury whatever a process was in a group, once what it sent is over.

    Call it right after the process was reaped.
    """
    await asyncio.sleep(SENT_WRITE_SECONDS)
    for _ in range(MOST_ATTEMPTS):
        why = await _attempt(leases, group, identity)
        if not why:
            return
        await asyncio.sleep(PAUSE_SECONDS)
    log.warning("cannot bury a process", process=identity, group=group, why=why)


async def _attempt(leases: LeaseClient, group: str, identity: str) -> str:
    """Why it did not work out; empty if it did."""
    try:
        await bounded(_bury(leases, group, identity), CALL_SECONDS)
    except (QuintantError, TimeoutError) as error:
        return str(error) or "no answer in time"
    return ""


async def _bury(leases: LeaseClient, group: str, identity: str) -> None:
    for lease in await leases.list(MANAGER, group):
        name = lease.metadata.name
        if name == group or lease.spec.holder_identity != identity:
            continue
        # Another member may have been faster.
        with suppress(Conflict):
            await leases.patch(lease, Lease(spec=LeaseSpec(holder_identity="")))
            log.warning("buried a member", member=name.removeprefix(f"{group}-"), group=group)
