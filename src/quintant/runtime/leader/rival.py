"""Whether a replica leads which a process without leader election would work beside.

Such a process competes for nothing, so nothing keeps the two apart: the least it can do is to look
once, before it starts, and say so. For a warning the times in the lease are good enough. Another
one without leader election holds no lease: that it would not be noticed is said, too.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from quintant.api.coordination import Lease
from quintant.client.rest import Rest
from quintant.core.clock import Clock, parse_timestamp
from quintant.core.errors import QuintantError
from quintant.core.object import Request
from quintant.runtime.leader.lease import LEASE_SECONDS
from quintant.runtime.observe.logs import get_logger

log: Final = get_logger()


async def warn_of_rival(rest: Rest, name: str, namespace: str, clock: Clock) -> str:
    """Log who holds the lease of this name by now, and return it; empty if no process does."""
    holder, lease = await _find_holder(rest, name, namespace, clock), f"{namespace}/{name}"
    if holder:
        log.warning(
            "running beside a leader",
            lease=lease,
            holder=holder,
            hint="leave out --no-leader-elect, or stop the other one",
        )
    else:
        log.warning(
            "running without leader election",
            lease=lease,
            hint="a second one would undo its work: leave out --no-leader-elect, or run only one",
        )
    return holder


async def _find_holder(rest: Rest, name: str, namespace: str, clock: Clock) -> str:
    try:
        found = await rest.get(Lease, Request(name, namespace))
    except QuintantError:
        # Without leader election there may be no right to read leases: then it is not known.
        return ""
    return live_holder(found, clock.now())


def live_holder(lease: Lease, now: datetime) -> str:
    """Who holds a lease that has not run out; empty if no process does."""
    spec = lease.spec
    if not spec.holder_identity or not spec.renew_time:
        return ""
    age = (now - parse_timestamp(spec.renew_time)).total_seconds()
    return spec.holder_identity if age < (spec.lease_duration_seconds or LEASE_SECONDS) else ""
