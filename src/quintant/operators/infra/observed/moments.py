"""How long ago a moment was that stands in a status, whoever wrote it there."""

from __future__ import annotations

from datetime import datetime

from quintant.core.clock import parse_timestamp


def seconds_since(now: datetime, moment: str | None) -> float | None:
    """Seconds since a moment; negative before it, None if there is none that can be read."""
    try:
        known = parse_timestamp(moment) if moment else None
    except ValueError:
        return None
    return (now - known).total_seconds() if known is not None and known.tzinfo else None
