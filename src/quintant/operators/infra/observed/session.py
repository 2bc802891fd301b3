"""`ProviderSession`: whom to speak to about a Cluster, and as whom; and what clouds are called.

A session holds secrets. Nothing but the remote reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.api import AnyCloud

CLOUD_ID = "c."
"""What the ids of clouds begin with: the provider knows no id that begins with a digit."""


@dataclass(frozen=True, slots=True)
class ProviderSession:
    """A provider, a cloud behind it, and who we are to both."""

    url: str
    user: Mapping[str, Sensitive[str]]
    """`username` and `password`, or `token`."""
    cloud: Mapping[str, str | Sensitive[str]] | None
    """The cloud's record, as the provider wants it; none asks about the provider alone."""
    cloud_id: str = ""
    authority: bytes | None = field(default=None, repr=False)
    insecure: bool = False
    timeout: float = 30.0
    limit: int = 8
    deleting: bool = False
    """Whether it is about something that is to go: that waits behind nothing else."""


def cloud_id(cloud: AnyCloud) -> str:
    """What the provider calls a cloud."""
    return f"{CLOUD_ID}{cloud.metadata.name}"


def cloud_key(cloud: AnyCloud) -> str:
    """How the index calls a cloud."""
    kind = "Cloud" if cloud.metadata.namespace else "GlobalCloud"
    return f"{kind}/{cloud.metadata.namespace}/{cloud.metadata.name}"
