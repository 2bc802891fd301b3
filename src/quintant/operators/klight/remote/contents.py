"""What peers have, as far as it matters to klight: digests of payloads, to be compared."""

from __future__ import annotations

Contents = tuple[bytes, ...]
"""A digest of everything that clients wrote, newest first."""
