"""Blocks as files and as lists of members: the formats that every lightpeer reads.

A file is a JSON object with the wire's own names, in their order, without what is empty. Nothing
here touches a disk; ids that are no plain file names are refused before anything is done with them.
What we write ourselves ends with one more name, a checksum, which every other reader skips.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from binascii import Error as Undecodable
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address
from random import Random
from typing import Any
from uuid import UUID
from zlib import crc32

from quintant.wire.lightpeer import BlockType, Lightblock, PeerInfo, Timestamp

PAYLOAD_BYTES = 4_000_000
"""The most a client may write: with a block around it, still below the 4 MiB of gRPC's messages."""
MEMBERS = 10_000
"""The most members a network may have; a list of them is 340 KB."""
HEAD, HEAD_COPY, LOST, NETWORK = "HEAD", "HEAD.copy", "LOST", "NETWORK"
DAMAGED, ASIDE, LOCK = "DAMAGED", "damaged", "LOCK"
OWN = (HEAD, HEAD_COPY, LOST, NETWORK, DAMAGED, ASIDE, LOCK)
"""Files of our own beside the blocks, so no block may have these names (see `disk.store`)."""
JOURNAL = "JOURNAL"
"""How the names of journals begin."""
_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_SEAL = re.compile(rb',"CRC32":"([0-9a-f]{8})"\}')
SEAL_BYTES = len(b',"CRC32":"00000000"}')
_ADDRESS = re.compile(r"(?:\[([^\[\]]{2,80})\]|([A-Za-z0-9._-]{1,253})):([0-9]{1,5})")
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")


class Unsound(ValueError):
    """A block, a list or an address that cannot be used; the text says why."""


def origin(identity: str) -> str:
    """What a block was before it was linked again: `4b1c.77` is what `4b1c` was."""
    return identity.partition(".")[0]


def fresh(chance: Random) -> str:
    """An id that nothing else has."""
    return str(UUID(int=chance.getrandbits(128), version=4))


def relinked(identity: str, chance: Random) -> Iterator[str]:
    """An id, and then others of the same origin: a block that is linked again is another block."""
    yield identity
    while True:
        yield f"{origin(identity)}.{chance.getrandbits(48):012x}"


def safe(identity: str) -> bool:
    """Whether an id is a plain file name, and not one of our own files'."""
    if _ID.fullmatch(identity) is None or identity in OWN:
        return False
    return not identity.startswith(JOURNAL)


def check(block: Lightblock) -> Lightblock:
    """The block itself, if it can be stored and sent to others; else Unsound."""
    if not safe(block.id):
        raise Unsound("the id of the block is not a plain name")
    if block.previous and not safe(block.previous):
        raise Unsound("the id of the parent is not a plain name")
    if len(block.payload) > PAYLOAD_BYTES:
        raise Unsound(f"the payload is longer than {PAYLOAD_BYTES} bytes")
    if block.type == BlockType.NETWORK:
        members_in(block.payload)
    elif block.type != BlockType.CLIENT:
        raise Unsound(f"there is no block of type {block.type}")
    return block


def checked_address(address: str) -> str:
    """An address itself, if it is `host:port`, of an IP address or a name; else Unsound."""
    found = _ADDRESS.fullmatch(address)
    if found is None or not _is_host(found[1], found[2]) or not 0 < int(found[3]) < 65536:
        raise Unsound(f"{address[:80]!r} is not an address: host:port is expected")
    return address


def _is_host(bracketed: str | None, bare: str) -> bool:
    try:
        if bracketed is not None:
            IPv6Address(bracketed)
            return True
        labels = bare.removesuffix(".").split(".")
        if labels[-1].isdecimal():  # Then it is an IPv4 address, or wrong.
            IPv4Address(bare)
            return True
    except ValueError:
        return False
    return all(map(_LABEL.fullmatch, labels))


@lru_cache(maxsize=8)
def members_in(payload: bytes) -> tuple[PeerInfo, ...]:
    """The members that a NETWORK block lists, each once, in order; Unsound if it lists none."""
    try:
        rows = json.loads(payload)
        found = [PeerInfo(str(row["Address"]), str(row.get("Name", ""))) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Unsound("the payload is not a list of members") from None
    if not isinstance(rows, list) or len(found) > MEMBERS:
        raise Unsound("the payload is not a list of members")
    return distinct(found)


def distinct(members: Iterable[PeerInfo]) -> tuple[PeerInfo, ...]:
    """The members, the first of each address."""
    found: dict[str, PeerInfo] = {}
    for each in members:
        found.setdefault(each.address, each)
    return tuple(found.values())


def payload_of(members: Sequence[PeerInfo]) -> bytes:
    """What a NETWORK block holds."""
    rows = [_without_empty({"Address": each.address, "Name": each.name}) for each in members]
    return _compact(rows)


def written(block: Lightblock) -> bytes:
    """The file of a block."""
    moment = block.updated
    return _compact(
        _without_empty(
            {
                "ID": block.id,
                "Payload": b64encode(block.payload).decode(),
                "PrevID": block.previous,
                "Type": int(block.type),
                "last_updated": moment
                and _without_empty({"seconds": moment.seconds, "nanos": moment.nanos}),
            }
        )
    )


def sealed(row: bytes) -> bytes:
    """A JSON object with its checksum."""
    return b'%b,"CRC32":"%08x"}' % (row[:-1], crc32(row))


def verified(raw: bytes) -> bool:
    """Whether a JSON object has a checksum; Unsound if it is not that of the object."""
    seal = _SEAL.fullmatch(raw[-SEAL_BYTES:])
    if seal is None:
        return False
    if crc32(b"}", crc32(memoryview(raw)[:-SEAL_BYTES])) != int(seal[1], 16):
        raise Unsound("the checksum is wrong")
    return True


def read(raw: bytes) -> Lightblock:
    """The block in a file; Unsound if there is none."""
    verified(raw)
    try:
        row = json.loads(raw)
        moment = row.get("last_updated")
        block = Lightblock(
            id=str(row["ID"]),
            payload=b64decode(row.get("Payload") or "", validate=True),
            previous=str(row.get("PrevID", "")),
            type=int(row.get("Type", BlockType.NETWORK)),
            updated=Timestamp(int(moment.get("seconds", 0)), int(moment.get("nanos", 0)))
            if moment
            else None,
        )
    except (ValueError, TypeError, KeyError, AttributeError, Undecodable, RecursionError):
        raise Unsound("the file holds no block") from None
    return check(block)


def _without_empty(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value}


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
