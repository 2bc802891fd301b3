"""Which writes of Leases are points: those that say something new, and not that time goes by.

A member renews its Lease every two seconds; that is no moment of its own. That it joins, is ready
or leaves, that a map is founded, taken from, given to, or a member buried: those are.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from quintant.client.transport import ApiRequest


class _Meta(msgspec.Struct, frozen=True):
    annotations: Mapping[str, str | None] | None = None


class _Spec(msgspec.Struct, frozen=True):
    holder: str | None = msgspec.field(default=None, name="holderIdentity")


class _Lease(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()
    spec: _Spec = _Spec()


class LeaseWrites:
    """What one process has written to Leases so far."""

    def __init__(self) -> None:
        self._last: dict[str, _Lease] = {}

    def is_news(self, call: ApiRequest) -> bool:
        """Whether a write says more than that its writer lives; it counts as written then."""
        if call.method == "DELETE":
            return True
        written = msgspec.json.decode(call.body or b"{}", type=_Lease)
        if call.method == "POST":
            return True
        before, self._last[call.path] = self._last.get(call.path), written
        if before == written:
            return False
        # The group's Lease is renewed without its map.
        return written.metadata.annotations is not None or not written.spec.holder
