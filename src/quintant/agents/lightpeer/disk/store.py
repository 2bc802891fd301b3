"""Blocks on the disk, in the file format of every lightpeer, and where the chain ends.

One file per block, named by its id. Besides, ours: HEAD (a block and its height), journals (what
happened since), LOST (what clients wrote that another chain has yet to take over), NETWORK (the
name the controller gave), and DAMAGED (what was found to be gone). What HEAD names is complete, and
so is what the journals add. Without HEAD, the directory of another lightpeer is understood: its
longest branch counts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from quintant.agents.lightpeer.chain.block import LOST, NETWORK, Unsound, read
from quintant.agents.lightpeer.chain.chain import Chain
from quintant.agents.lightpeer.disk.damage import (
    Damage,
    damage_lines,
    keep_whole,
    remember,
    remembered,
    set_aside,
    unfinished,
)
from quintant.agents.lightpeer.disk.folder import Disk
from quintant.agents.lightpeer.disk.journal import End, Journal, replayed
from quintant.agents.lightpeer.disk.record import added
from quintant.agents.lightpeer.disk.small_file import small_file
from quintant.agents.lightpeer.disk.survey import BLOCK_BYTES, Survey, head_files, survey
from quintant.wire.lightpeer import Lightblock

LONG_BYTES = 256_000
"""Blocks as long as this are not written twice: their files are made at once."""
READ_BLOCKS, READ_BYTES = 256, 1_000_000
"""So much is read at once: to ask the disk's thread takes longer than to read a block."""

log: Final = logging.getLogger("lightpeer")


@dataclass(frozen=True, slots=True)
class Found:
    """What was on the disk."""

    chain: Chain
    truncated: bool = False
    """Whether a block is missing below; the chain begins above it."""
    members: str = ""
    """The block that lists members; of a damaged chain, it may be outside."""
    lost: tuple[str, ...] = ()
    network: str = ""
    damage: Damage = field(default_factory=Damage)


class Store:
    """Reads and writes blocks; every method blocks."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self._journal = Journal(disk)
        self._end: End = ("", 0)
        """The newest block and the height, as they will be in HEAD."""

    def load(self, me: str = "") -> Found:
        """The chain that HEAD and the journals name, or the longest there is.

        Whatever is damaged is moved aside; what is whole above it is kept, and written again.
        """
        found = survey(self.disk, me)
        lost = tuple(dict.fromkeys((*found.lost, *found.apart)))
        damage = remembered(self.disk)
        self._journal.open(found.replay)
        self._end = found.chain.head, len(found.chain)
        for text in unfinished(found):
            log.info("%s", text)
        if not found.sound:
            damage = self._mend(found, lost, damage)
        return Found(found.chain, found.truncated, found.members, lost, found.network, damage)

    def _mend(self, result: Survey, lost: tuple[str, ...], known: Damage) -> Damage:
        """Note what is damaged, and have a disk that holds nothing but what is whole."""
        for text in damage_lines(result):
            log.error("%s", text)
        damage = known | Damage(damage_lines(result)) if result.harmed else known
        try:
            set_aside(self.disk, result.damaged)
            remember(self.disk, damage)
            self.lose(lost)
            self._journal.turn(self._end, self._end)
            keep_whole(self.disk, result.damaged)
            self._journal.open(replayed(self.disk, ""))
        except OSError as error:
            log.error("cannot move aside what is damaged: %s", error.strerror or error)
        return damage

    def get(self, identity: str) -> Lightblock:
        """A block; FileNotFoundError if it is not there."""
        if (block := self._journal.get(identity)) is not None:
            return block
        try:
            return read(self.disk.read(identity, 0, BLOCK_BYTES + 1))
        except Unsound:
            raise FileNotFoundError(f"the file of block {identity} holds no block") from None

    def some(self, identities: Sequence[str]) -> list[Lightblock]:
        """The first of some blocks: as many as are read at once, up to one that cannot be."""
        found, size = [self.get(identities[0])], 0
        with suppress(OSError):  # It is the first of the next ones, and raises then.
            for identity in identities[1:READ_BLOCKS]:
                size += len(found[-1].payload)
                if size >= READ_BYTES:
                    break
                found.append(self.get(identity))
        return found

    def append(self, blocks: Sequence[Lightblock], height: int) -> None:
        """Write blocks, and that the last of them is the newest now."""
        end = blocks[-1].id, height
        if sum(len(each.payload) for each in blocks) >= LONG_BYTES:
            self.disk.write(files(blocks))
            self._journal.name(blocks, height, self._end)
        else:
            self._journal.add(blocks, self._end)
        self._end = end

    @property
    def pending(self) -> int:
        """How many blocks have no files yet."""
        return self._journal.pending

    def compact(self, count: int) -> None:
        """Make a few files of blocks that have none, and remove journals that are not needed."""
        self._journal.compact(count)
        names, end = self._journal.done(self._end)
        if names:
            self.disk.write(head_files(end))
            self._journal.drop(names)

    def stage(self, blocks: Sequence[Lightblock]) -> None:
        """Write blocks that no chain of ours has yet."""
        self.disk.write(files(blocks))

    def turn(self, head: str, height: int, lost: Iterable[str] | None = None) -> None:
        """Write that another chain is ours now, and what it has yet to take over, if given."""
        if lost is not None:
            self.lose(lost)
        self._journal.turn((head, height), self._end)
        self._end = head, height

    def lose(self, lost: Iterable[str]) -> None:
        """Write what the chain has yet to take over."""
        self.disk.write([small_file(LOST, "".join(f"{each}\n" for each in lost))])

    def name(self, network: str) -> None:
        """Write the name of the network."""
        self.disk.write([small_file(NETWORK, f"{network}\n")])

    def mended(self) -> None:
        """Forget the damage: the chain is whole again."""
        remember(self.disk, Damage())


def files(blocks: Iterable[Lightblock]) -> list[tuple[str, bytes]]:
    """Blocks as files: names and contents."""
    return [(each.id, added(each)) for each in blocks]
