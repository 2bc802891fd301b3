"""What is shown to the server with a request, and how a transport asks for it.

Below everything that has credentials to give (quintant.client.config.tokens and .plugin).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair


@dataclass(frozen=True, slots=True)
class Credential:
    """Headers to add to a request, and a certificate to show on its connection.

    The same key pair is the same object: a transport that sees another one opens new connections.
    """

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    pair: KeyPair | None = None


class CredentialProvider(Protocol):
    """A source of credentials."""

    async def credential(self) -> Credential:
        """What to show with a request that begins now; NoCredentials when there is nothing."""

    def invalidate(self, began: float) -> bool:
        """The server refused (401) a request that began then, on the loop's clock.

        Returns whether another try may fare better.
        """


@dataclass(frozen=True, slots=True)
class StaticCredential:
    """Credentials that never change: none, a token, a password, an inline certificate."""

    value: Credential = field(default_factory=Credential)

    async def credential(self) -> Credential:
        return self.value

    def invalidate(self, began: float) -> bool:
        return False


def bearer_header(token: Sensitive[str]) -> Mapping[str, str]:
    """The header of a token; ValueError, without the token, when a header cannot hold it."""
    text = token.reveal().strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("a token is one word of printable ASCII")
    return {"authorization": f"Bearer {text}"}


def basic_header(username: str, password: Sensitive[str]) -> Mapping[str, str]:
    """The header of a user name and a password."""
    pair = f"{username}:{password.reveal()}".encode()
    return {"authorization": f"Basic {base64.b64encode(pair).decode()}"}
