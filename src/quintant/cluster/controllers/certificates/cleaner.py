"""CSRCleanerController: requests are deleted some time after they were decided, or after a day."""

from __future__ import annotations

from datetime import datetime, timedelta

from quintant.api.kubernetes.certificates_v1 import CertificateSigningRequest
from quintant.core.clock import parse_timestamp
from quintant.core.object import Request
from quintant.runtime.reconcile.context import KeyContext
from quintant.runtime.reconcile.result import Result

DECIDED = timedelta(hours=1)
"""How long a request stays that was approved, denied or failed."""
PENDING = timedelta(hours=24)
_DECISIONS = ("Approved", "Denied", "Failed")


class Cleaner:
    """Deletes requests whose time has come, or comes back when it has."""

    async def __call__(self, request: Request, ctx: KeyContext) -> Result | None:
        csr = await ctx.client.find(CertificateSigningRequest, request.name)
        if csr is None or csr.deleting:
            return None
        left = (expiry(csr) - ctx.clock.now()).total_seconds()
        if left > 0:
            return Result(after=left)
        await ctx.client.delete(csr, unchanged=True)
        return None


def expiry(csr: CertificateSigningRequest) -> datetime:
    """When a request is to be deleted."""
    since = parse_timestamp(csr.metadata.creation_timestamp or "")
    decided = [
        parse_timestamp(each.last_update_time)
        for each in csr.status.conditions
        if each.type in _DECISIONS and each.last_update_time
    ]
    return min([since + PENDING, *(each + DECIDED for each in decided)])
