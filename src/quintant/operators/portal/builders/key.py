"""The key of a PortalExpose: whose a name is, at relays of Portal's own protocol. Pure.

Tunnels of one PortalExpose share it, and with it the name. It is made once, and never read again
by others.
"""

from __future__ import annotations

import base64

from quintant.api.core import Secret
from quintant.core.object import ObjectMeta
from quintant.core.owner import owned
from quintant.operators.portal.api import KEY_TYPE, PortalExpose
from quintant.runtime.apply.names import child_name

KEY = "key"
SEED_BYTES = 32
_SUFFIX = "-tunnel-key"


def key_name(expose: str) -> str:
    """The name of the Secret that holds the key."""
    return child_name(expose, _SUFFIX)


def key_secret(expose: PortalExpose, seed: bytes) -> Secret:
    """The Secret, with a key that is made from this."""
    meta = ObjectMeta(name=key_name(expose.metadata.name), namespace=expose.metadata.namespace)
    text = base64.b64encode(seed).decode()
    secret = Secret(metadata=meta, type=KEY_TYPE, string_data={KEY: text}, immutable=True)
    return owned(secret, by=expose)
