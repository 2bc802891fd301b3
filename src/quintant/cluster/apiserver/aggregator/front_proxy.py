"""SetAuthProxyHeaders, ClientCARegistration: how an extension server learns who asks. Pure.

The server shows it a client certificate, and names the user in headers. By which authority and
names that certificate is to be believed stands in a ConfigMap, which every extension server reads.
"""

from __future__ import annotations

from urllib.parse import quote

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.meta.user import MASTERS, User
from quintant.keys.tls import KeyPair

CLIENT = "front-proxy-client"
NAMESPACE, CONFIG_MAP = "kube-system", "extension-apiserver-authentication"
READER = f"{CONFIG_MAP}-reader"
USER, UID, GROUP, EXTRA = "X-Remote-User", "X-Remote-Uid", "X-Remote-Group", "X-Remote-Extra-"
AGGREGATOR = User("system:kube-aggregator", (MASTERS,))
"""Who asks when nobody does: somebody who may always."""
# What may stand in a header's name as it is, beside letters and digits.
_TOKEN = "!#$&'*+-.^_`|~"
_AUTOUPDATE = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
_BOOTSTRAP = {"kubernetes.io/bootstrapping": "rbac-defaults"}


class FrontProxy(Struct, frozen=True):
    """What proves to an extension server that a request comes from this server."""

    authority: bytes
    """What signed the certificate (PEM)."""
    pair: KeyPair
    clients: bytes
    """What signs the certificates of clients, for those who reach an extension server directly."""


def user_fields(user: User) -> tuple[tuple[str, str], ...]:
    """The header fields that name a user; ValueError if one of them would not be one line."""
    fields = [(USER, user.name)]
    fields += [(UID, user.uid)] if user.uid else []
    fields += [(GROUP, group) for group in user.groups]
    fields += [
        (f"{EXTRA}{quote(key.lower(), safe=_TOKEN)}", value)
        for key, values in sorted(user.extra.items())
        for value in values
    ]
    if not all(value.isprintable() for _, value in fields):
        raise ValueError("a name of the user is not one line")
    return tuple((name.lower(), value) for name, value in fields)


def authentication_config(front_proxy: FrontProxy) -> JsonObject:
    """The ConfigMap that extension servers read."""
    lists = {
        "requestheader-allowed-names": [CLIENT],
        "requestheader-extra-headers-prefix": [EXTRA],
        "requestheader-group-headers": [GROUP],
        "requestheader-uid-headers": [UID],
        "requestheader-username-headers": [USER],
    }
    data = {
        "client-ca-file": front_proxy.clients.decode(),
        "requestheader-client-ca-file": front_proxy.authority.decode(),
        **{name: msgspec.json.encode(values).decode() for name, values in lists.items()},
    }
    return {"metadata": {"name": CONFIG_MAP, "namespace": NAMESPACE}, "data": data}


def reader_role() -> JsonObject:
    """The Role that lets an extension server read it."""
    rule = {
        "verbs": ["get", "list", "watch"],
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [CONFIG_MAP],
    }
    metadata = {
        "name": READER,
        "namespace": NAMESPACE,
        "labels": dict(_BOOTSTRAP),
        "annotations": dict(_AUTOUPDATE),
    }
    return {"metadata": metadata, "rules": [rule]}
