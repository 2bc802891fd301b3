"""The flags of the kube-apiserver that envtest starts: which are honoured, and which are refused.

A flag of a real kube-apiserver is honoured, or is about the server's own inside and changes nothing
that a client sees, or is refused by its name. None is passed over in silence.

    command line ─► flag_set ─► read_apiserver_flags ─► ApiServerFlags ─► kube_apiserver
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Network, ip_address, ip_network
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from quintant.cli.envtest.feature_flags import check_gates, check_runtime, disabled_plugins
from quintant.cli.envtest.flag_set import FlagError, FlagValues, FlagWords, invalid_value
from quintant.cli.envtest.known_words import APISERVER_FLAGS, APISERVER_SWITCHES, words
from quintant.core.address import BindAddress

T = TypeVar("T")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""What a URL begins with."""

PROGRAM = "kube-apiserver"
WORDS = FlagWords(
    APISERVER_FLAGS, APISERVER_SWITCHES, arguments=f'"{PROGRAM}" does not take any arguments, got'
)
PORT, PREFIX, FOLDER = "6443", "/registry", "/var/run/kubernetes"
"""What a real one takes that is told nothing."""
LOOPBACK = "127.0.0.1"
"""Where to listen unless it is said: a real one listens everywhere, and this one is for tests."""
SMALLEST_NETWORK = 28
"""Of services: some addresses at its beginning are the cluster's own."""

HONOURED: Mapping[str, str] = {
    "advertise-address": "where the Service kubernetes says that the server is",
    "allow-privileged": "true, or left out",
    "anonymous-auth": "true, or left out",
    "audit-policy-file": "is read; without a log or webhook, which are refused, nothing is written",
    "authorization-mode": "RBAC",
    "bind-address": "where to listen; 127.0.0.1 if it is left out",
    "cert-dir": "where apiserver.crt and apiserver.key are, or are put",
    "client-ca-file": "who signs the certificates of clients",
    "disable-admission-plugins": "plugins that are not asked",
    "enable-admission-plugins": "plugins that are asked anyway",
    "etcd-prefix": "which of the clusters in etcd",
    "etcd-servers": "where the etcd of the same folder listens",
    "feature-gates": "as they are in this version, and no other way",
    "runtime-config": "versions that are served",
    "secure-port": "where to listen",
    "service-account-issuer": "who signs tokens of service accounts; further ones are believed",
    "service-account-key-file": "the public key of the signing key",
    "service-account-signing-key-file": "signs tokens of service accounts: P-256 or RSA",
    "service-cluster-ip-range": "where services get their addresses from: IPv4",
    "tls-cert-file": "the serving certificate",
    "tls-private-key-file": "and its key",
    "token-auth-file": "users by token: token,user,uid,groups",
}
"""What each is for, as --help says."""
UNCHANGED: Mapping[str, tuple[str, ...]] = {
    "api-audiences": (),
    "event-ttl": ("1h0m0s", "1h", "60m"),
    "min-request-timeout": ("1800",),
    "request-timeout": ("1m0s", "1m", "60s"),
    "service-node-port-range": ("30000-32767",),
    "storage-backend": ("etcd3",),
}
"""Taken with the value that the server has anyway; audiences are the issuer's."""
INNER = words(
    """
    contention-profiling delete-collection-workers
    enable-priority-and-fairness etcd-compaction-interval etcd-count-metric-poll-period
    etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-readycheck-timeout goaway-chance
    http2-max-streams-per-connection livez-grace-period log-flush-frequency
    log-json-info-buffer-size log-json-split-stream log-text-info-buffer-size
    log-text-split-stream logging-format max-mutating-requests-inflight max-requests-inflight
    profiling shutdown-delay-duration shutdown-send-retry-after storage-media-type v vmodule
    watch-cache watch-cache-sizes
    """
)
"""About the server's own inside: taken, and of no consequence to any client."""


class ApiServerFlags(Struct, frozen=True):
    """What a command line asks of the server."""

    address: BindAddress
    advertised: str
    """The address that clients are told."""
    certificates: Path
    serving: tuple[Path, Path] | None
    """Certificate and key; without, those of the folder."""
    client_authority: Path | None
    issuers: tuple[str, ...]
    public_keys: tuple[Path, ...]
    signing_key: Path
    etcd: str
    prefix: str
    services: IPv4Network
    disabled: frozenset[str]
    tokens: Path | None
    audit_policy: Path | None


def read_apiserver_flags(values: FlagValues) -> ApiServerFlags:
    """The flags, understood; FlagError names the one that cannot be honoured."""
    for name, value in values.given.items():
        _check_support(name, value[-1])
    address = BindAddress(_ip(values, "bind-address", LOOPBACK), _port(values))
    services, serving = _network(values), _serving(values)
    missing = [text for name, text in _REQUIRED.items() if not values.text(name)]
    if missing:
        raise FlagError(f"[{', '.join(missing)}]")
    _check_fixed(values)
    check_gates(values.items("feature-gates"))
    check_runtime(values.items("runtime-config"))
    return ApiServerFlags(
        address,
        _ip(values, "advertise-address", address.host),
        Path(values.text("cert-dir", FOLDER)),
        serving,
        _path(values, "client-ca-file"),
        _issuers(values),
        tuple(map(Path, values.items("service-account-key-file"))),
        Path(values.text("service-account-signing-key-file")),
        _one(values, "etcd-servers"),
        values.text("etcd-prefix", PREFIX),
        services,
        disabled_plugins(
            values.items("enable-admission-plugins"), values.items("disable-admission-plugins")
        ),
        _path(values, "token-auth-file"),
        _path(values, "audit-policy-file"),
    )


_REQUIRED = {
    "etcd-servers": "--etcd-servers must be specified",
    "service-account-issuer": "--service-account-issuer is a required flag",
    "service-account-key-file": "--service-account-key-file must be set",
    "service-account-signing-key-file": "--service-account-signing-key-file is a required flag",
}


def _check_support(name: str, value: str) -> None:
    if name not in HONOURED and name not in INNER and name not in UNCHANGED:
        raise FlagError(f"--{name} is not supported here")
    allowed = UNCHANGED.get(name)
    if allowed and value not in allowed:
        raise FlagError(f"--{name}={value} is not supported here: it is {allowed[0]}, and fixed")


def _check_fixed(values: FlagValues) -> None:
    """What can be said in one way only."""
    for name in ("allow-privileged", "anonymous-auth"):
        if not values.switch(name, default=True):
            raise FlagError(f"--{name}=false is not supported here: it is true, and fixed")
    modes = values.items("authorization-mode")
    if modes != ["RBAC"]:
        listed = ",".join(modes) or "AlwaysAllow"
        raise FlagError(f"--authorization-mode={listed} is not supported here: RBAC alone is")
    issuers, audiences = values.items("service-account-issuer"), values.items("api-audiences")
    if audiences and audiences != issuers:
        raise FlagError("--api-audiences is not supported here but for the issuers themselves")


def _port(values: FlagValues) -> int:
    text = values.text("secure-port", PORT)
    try:
        port = int(text)
    except ValueError:
        why = f'strconv.ParseInt: parsing "{text}": invalid syntax'
        raise invalid_value("secure-port", text, why) from None
    if not 1 <= port <= 65535:
        raise FlagError(f"--secure-port {port} must be between 1 and 65535, inclusive")
    return port


def _ip(values: FlagValues, name: str, default: str) -> str:
    text = values.text(name) or default
    return _read(name, text, lambda: str(ip_address(text)), f'failed to parse IP: "{text}"')


def _network(values: FlagValues) -> IPv4Network:
    name, text = "service-cluster-ip-range", values.text("service-cluster-ip-range", "10.0.0.0/24")
    network = _read(name, text, lambda: ip_network(text, strict=False), "no network")
    if not isinstance(network, IPv4Network) or network.prefixlen > SMALLEST_NETWORK:
        raise invalid_value(name, text, f"one IPv4 network of /{SMALLEST_NETWORK} or larger is")
    return network


def _read(name: str, text: str, read: Callable[[], T], why: str) -> T:
    try:
        return read()
    except ValueError:
        raise invalid_value(name, text, why) from None


def _one(values: FlagValues, name: str) -> str:
    found = values.items(name)
    if len(found) > 1:
        raise FlagError(f"--{name}={','.join(found)} is not supported here: one is")
    return found[0]


def _issuers(values: FlagValues) -> tuple[str, ...]:
    """Who signs tokens: URLs, or any word without a colon."""
    issuers = tuple(values.items("service-account-issuer"))
    for issuer in issuers:
        if ":" in issuer and not _SCHEME.match(issuer):
            raise FlagError(
                f"--service-account-issuer \"{issuer}\" contained a ':' but was not a valid URL"
            )
    return issuers


def _path(values: FlagValues, name: str) -> Path | None:
    return Path(values.text(name)) if values.text(name) else None


def _serving(values: FlagValues) -> tuple[Path, Path] | None:
    pair = _path(values, "tls-cert-file"), _path(values, "tls-private-key-file")
    match pair:
        case (None, None):
            return None
        case (Path() as certificate, Path() as key):
            return certificate, key
    raise FlagError("--tls-cert-file and --tls-private-key-file need each other")
