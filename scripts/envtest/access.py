"""How to reach a cluster, and the files that say so.

An `Access` is the same whether we started the cluster or were given one. Documents are written
as JSON, which every reader of YAML reads; files that hold a secret are readable by their owner
only.
"""

import base64
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

ADMIN = "admin"

_NAME = "envtest"
_KEY_BITS = 2048
_EXPONENT = 65537


@dataclass(frozen=True)
class Access:
    """Everything a client needs."""

    server: str
    token: str = field(repr=False)
    """Of a cluster administrator; empty where a given kubeconfig uses another method."""
    ca: Path
    kubeconfig: Path


def kubeconfig(server: str, token: str, ca: bytes) -> dict[str, object]:
    """Return a kubeconfig with one context: the administrator of one cluster."""
    authority = base64.b64encode(ca).decode()
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": _NAME,
        "clusters": [
            {"name": _NAME, "cluster": {"server": server, "certificate-authority-data": authority}}
        ],
        "users": [{"name": ADMIN, "user": {"token": token}}],
        "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": ADMIN}}],
    }


def token_line(token: str) -> str:
    """Return the line of a token file that makes the bearer a cluster administrator."""
    return f'{token},{ADMIN},{ADMIN},"system:masters"\n'


def private_key() -> bytes:
    """Return a new key, in PEM, with which an API server signs service account tokens."""
    key = rsa.generate_private_key(public_exponent=_EXPONENT, key_size=_KEY_BITS)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def write_secret(path: Path, content: str | bytes | dict[str, object]) -> Path:
    """Write a file that only its owner may read; a dict is written as JSON."""
    if isinstance(content, dict):
        content = json.dumps(content, indent=2)
    if isinstance(content, str):
        content = content.encode()

    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    return path
