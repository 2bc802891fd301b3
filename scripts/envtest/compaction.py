"""Forgetting history: what an API server does by itself every five minutes, at once.

etcd forgets what was before a revision; the API server learns of it from the key where its kind
keep such revisions, and forgets what it remembers beside etcd.
"""

import base64
import json
import urllib.request
from collections.abc import Mapping

_KEY = "compact_rev_key"
_SECONDS = 10.0


def compact(store: str, revision: str) -> None:
    """Have the etcd at a URL, and the API servers above it, forget what was before a revision."""
    _post(store, "kv/put", {"key": _text(_KEY), "value": _text(revision)})
    _post(store, "kv/compaction", {"revision": revision})


def _post(store: str, path: str, document: Mapping[str, str]) -> None:
    body = json.dumps(document).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{store}/v3/{path}", body, headers)
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        answer.read()


def _text(value: str) -> str:
    return base64.b64encode(value.encode()).decode()
