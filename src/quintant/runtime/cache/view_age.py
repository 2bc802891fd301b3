"""How old the view of a watch may be: what proves, at the latest, when it was still complete.

Two things prove it. A consistent read says which version the server was at when it was asked: once
the watch has reached that version, its view is at least as new as that moment. A bookmark says that
nothing is missing up to a version: it counts as news of the moment at which it came, unless a
consistent read of before it has seen more, as where the server itself is behind its store. Events
prove nothing by themselves, for they may come late. Pure; moments are the loop's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from quintant.runtime.cache.overlay import version_precedes, version_reached
from quintant.runtime.watch.watch_stream import VersionMark

# Consistent reads that are remembered while the watch has not reached them: an hour at two a minute
# says no more than its first and its last, and some between.
MOST_READS = 16


def proven_at(
    version: str, reads: Sequence[VersionMark], bookmark: VersionMark | None
) -> float | None:
    """The latest moment at which a view that has reached `version` was surely complete."""
    proofs = [read.at for read in reads if version_reached(version, read.version)]
    if bookmark is not None and not _contradicted(bookmark, reads):
        proofs.append(bookmark.at)
    return max(proofs, default=None)


def keep_reads(
    reads: Sequence[VersionMark], new: VersionMark, version: str
) -> tuple[VersionMark, ...]:
    """What is remembered after one more read, of a watch that has reached `version`.

    Of the reads that were reached only the last is of use, and none of a server that went back,
    as one does that was restored: the watch will never reach what is not there any more.
    """
    if reads and version_precedes(new.version, reads[-1].version):
        return (new,)
    reached = [read for read in reads if version_reached(version, read.version)]
    ahead = [read for read in reads if not version_reached(version, read.version)]
    while len(ahead) >= MOST_READS:
        del ahead[1]
    return (*reached[-1:], *ahead, new)


def ahead_since(version: str, reads: Iterable[VersionMark]) -> float | None:
    """When the server was first seen ahead of a watch that has reached `version`."""
    behind = (read.at for read in reads if not version_reached(version, read.version))
    return min(behind, default=None)


def _contradicted(bookmark: VersionMark, reads: Sequence[VersionMark]) -> bool:
    before = [read for read in reads if read.at <= bookmark.at]
    return bool(before) and not version_reached(bookmark.version, before[-1].version)
