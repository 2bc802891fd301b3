"""Whether somebody leads whom a process without leader election would work beside.

Such a process competes for nothing, so nothing keeps the two apart: the least it can do is to look
once, before it starts, and say so. For a warning the times in the lease are good enough.
"""

from __future__ import annotations

from datetime import datetime

from quintant.api.coordination import Lease
from quintant.client.rest import Rest
from quintant.core.clock import Clock, parse_timestamp
from quintant.core.errors import QuintantError
from quintant.core.object import Request
from quintant.runtime.leader.lease import LEASE_SECONDS
from quintant.runtime.observe.logs import get_logger

log = get_logger()


async def warn_of_rival(rest: Rest, name: str, namespace: str, clock: Clock) -> str:
    """Log who holds the lease of this name by now, and return it; empty if nobody does."""
    try:
        found = await rest.get(Lease, Request(name, namespace))
    except QuintantError:
        # Without leader election there may be no right to read leases: then nobody can tell.
        return ""
    holder = live_holder(found, clock.now())
    if holder:
        log.warning(
            "running beside a leader",
            lease=f"{namespace}/{name}",
            holder=holder,
            hint="leave out --no-leader-elect, or stop the other one",
        )
    return holder


def live_holder(lease: Lease, now: datetime) -> str:
    """Who holds a lease that has not run out; empty if nobody does."""
    spec = lease.spec
    if not spec.holder_identity or not spec.renew_time:
        return ""
    age = (now - parse_timestamp(spec.renew_time)).total_seconds()
    return spec.holder_identity if age < (spec.lease_duration_seconds or LEASE_SECONDS) else ""
