"""The flags of the etcd that envtest starts: which are honoured, and which are refused.

It is one member that keeps a folder for the kube-apiserver beside it. What is about others, or
about its own inside, is taken and of no consequence; what would change who may reach it is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from quintant.cli.envtest.flag_set import FlagError, FlagValues, FlagWords
from quintant.cli.envtest.known_words import ETCD_FLAGS, ETCD_SWITCHES, words
from quintant.core.address import BindAddress

PROGRAM = "etcd"
WORDS = FlagWords(ETCD_FLAGS, ETCD_SWITCHES, dashes=1, arguments="'etcd' takes no arguments, got")
RELEASE = "3.6.0"
"""The release of etcd whose answers these are."""
USUAL = "http://localhost:2379"
FOLDER = "default.etcd"

HONOURED: Mapping[str, str] = {
    "data-dir": "where objects are kept",
    "listen-client-urls": "where to listen: http",
    "unsafe-no-fsync": "true or false: objects are safe from kill -9 in either case",
}
"""What each is for, as --help says."""
INNER = words(
    """
    advertise-client-urls auto-compaction-mode auto-compaction-retention backend-batch-interval
    backend-batch-limit backend-bbolt-freelist-type compaction-batch-limit election-timeout
    enable-pprof experimental-watch-progress-notify-interval heartbeat-interval
    initial-advertise-peer-urls initial-cluster initial-cluster-state initial-cluster-token
    initial-election-tick-advance listen-metrics-urls listen-peer-urls log-format log-level
    log-outputs logger max-concurrent-streams max-request-bytes max-snapshots max-txn-ops max-wals
    metrics name pre-vote quota-backend-bytes snapshot-catchup-entries snapshot-count
    socket-reuse-address socket-reuse-port strict-reconfig-check wal-dir warning-apply-duration
    watch-progress-notify-interval
    """
)
"""About other members, which there are none of, and about its own inside: the log of what is
written lies beside the objects, wherever --wal-dir is."""


class EtcdFlags(Struct, frozen=True):
    """What a command line asks of etcd."""

    addresses: tuple[BindAddress, ...]
    folder: Path


def read_etcd_flags(values: FlagValues) -> EtcdFlags:
    """The flags, understood; FlagError names the one that cannot be honoured."""
    for name in values.given:
        if name not in HONOURED and name not in INNER:
            raise FlagError(f"--{name} is not supported here")
    values.switch("unsafe-no-fsync", default=False)
    urls = values.items("listen-client-urls") or [USUAL]
    return EtcdFlags(tuple(map(_address, urls)), Path(values.text("data-dir", FOLDER)))


def _address(url: str) -> BindAddress:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme != "http" or not parts.hostname or port is None:
        raise FlagError(
            f'invalid value "{url}" for flag -listen-client-urls: http://host:port is supported'
        )
    return BindAddress(parts.hostname, port)
