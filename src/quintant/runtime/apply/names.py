"""Names of children: they follow from their owner's, and fit where they are written.

After a restart a name is all there is to find a child by, so it is a pure function of the owner's.
"""

from __future__ import annotations

from hashlib import sha256

NAME_LENGTH = 253
"""What the name of most kinds may have: a DNS subdomain."""
LABEL_LENGTH = 63
"""What the value of a label may have, and the name of a Service or a pod's host: a DNS label."""
_HASH_LENGTH = 8


def child_name(owner: str, suffix: str = "", *, length: int = NAME_LENGTH) -> str:
    """The owner's name and a suffix; too long a name is cut, and made unique by its hash."""
    room = length - len(suffix)
    if len(owner) > room:
        kept = owner[: room - _HASH_LENGTH - 1].rstrip("-.")
        owner = f"{kept}-{sha256(owner.encode()).hexdigest()[:_HASH_LENGTH]}"
    return owner + suffix
