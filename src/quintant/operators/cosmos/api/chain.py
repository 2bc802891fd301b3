"""The chain of a CosmosFullNode: what its nodes run, with which configuration, in which version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from quintant.core.object import Model
from quintant.core.schema.markers import duration
from quintant.wire.comet import HEIGHT_LIMIT

MOST_CHARACTERS = 65_536
"""Of a text that every instance gets: with all of them it fits into an etcd."""
MOST_ITEMS = 256
"""Of a list that goes into every pod."""
MOST_VERSIONS = 1000
YEAR_SECONDS = 31_536_000
Text = Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS)]
LongText = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Words = Annotated[tuple[str, ...], Meta(max_length=MOST_ITEMS)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seconds = Annotated[int, Meta(ge=1, le=YEAR_SECONDS)]
MOST_HEIGHT = HEIGHT_LIMIT + 1
"""The largest that the `maximum` of a schema can say: the API server reads it as a float64. What a
node answers is held to it, so that a status can always be written."""
Height = Annotated[int, Meta(ge=0, le=MOST_HEIGHT)]
LogLevel = Literal["trace", "debug", "info", "warn", "error", "fatal", "panic"]
LogFormat = Literal["plain", "json"]


class CometConfig(Model):
    """What of config.toml is decided here; `overrides` is TOML laid over all of it."""

    rpc_listen_address: str = ""
    """Empty means tcp://0.0.0.0:26657."""
    p2p_listen_address: str = ""
    """Empty means tcp://0.0.0.0:26656."""
    peers: Text | None = None
    """Persistent peers beside the siblings: id@host:port, by commas."""
    seeds: Text | None = None
    """Seed nodes: id@host:port, by commas."""
    private_peer_ids: LongText = msgspec.field(default="", name="privatePeerIDs")
    """Ids of peers that are not told to others, by commas."""
    unconditional_peer_ids: LongText = msgspec.field(default="", name="unconditionalPeerIDs")
    """Ids of peers that are connected whatever the limits are, by commas."""
    max_inbound_peers: Count | None = None
    """How many peers may connect."""
    max_outbound_peers: Count | None = None
    """How many peers are connected to."""
    cors_allowed_origins: Words = ()
    """Origins of web pages that may use the RPC."""
    overrides: LongText = ""
    """TOML that is laid over config.toml."""


class Pruning(Model):
    """Which states an SDK application keeps."""

    strategy: Literal["default", "nothing", "everything", "custom"]
    """Which states are kept: the SDK's strategies."""
    interval: Height | None = None
    """After how many blocks states are pruned; for custom."""
    keep_every: Height | None = None
    """Which states are kept for ever: every so many blocks; for custom."""
    keep_recent: Height | None = None
    """How many of the latest states are kept; for custom."""
    min_retain_blocks: Height | None = None
    """How many blocks CometBFT keeps at least."""


class SdkAppConfig(Model):
    """What of app.toml is decided here; `overrides` is TOML laid over all of it."""

    min_gas_price: Text
    """The least price of gas that is accepted, such as 0.025uatom."""
    api_enable_unsafe_cors: bool = msgspec.field(default=False, name="apiEnableUnsafeCORS")
    """Whether web pages of any origin may use the REST API."""
    grpc_web_enable_unsafe_cors: bool = msgspec.field(default=False, name="grpcWebEnableUnsafeCORS")
    """Whether web pages of any origin may use gRPC-Web."""
    halt_height: Height | None = None
    """Ignored where there are versions: those say where to halt."""
    pruning: Pruning | None = None
    overrides: LongText = ""
    """TOML that is laid over app.toml."""


class ChainVersion(Model):
    """The images from a height on, until the next version's."""

    height: Height
    """The height from which on it is in force."""
    image: str
    """The chain's image."""
    init_containers: Mapping[str, str] = {}
    """Images of further init containers, by name."""
    containers: Mapping[str, str] = {}
    """Images of further containers, by name."""
    snapshot_before: str = ""
    """A VolumeSnapshotClass: the volume of one halted node is copied before its program changes."""
    set_halt_height: bool = False
    """Have the version before it halt at this height by itself (halt-height of app.toml)."""


class StateSync(Model):
    """A new volume without a source joins at a recent height, from the states that others serve.

    Trust height and hash are read when a pod starts, from the first two servers, which must agree.
    """

    rpc_servers: Annotated[tuple[Text, ...], Meta(min_length=2, max_length=16)]
    """RPC addresses of nodes that are trusted, such as https://rpc.example.com:443."""
    trust_period: Annotated[str, duration()] | None = None
    """168h if not given: two thirds of the usual unbonding time, at most."""


class ChainSpec(Model):
    """Which chain, by which program."""

    chain_id: Text = msgspec.field(name="chainID")
    """The chain's id, such as cosmoshub-4."""
    network: Text
    """The kind of network, such as mainnet; a label of everything that is made."""
    binary: Text
    """The chain's program in its image, such as gaiad."""
    home_dir: str = ""
    """Below /home/operator; empty means cosmos."""
    config: CometConfig = CometConfig()
    app: SdkAppConfig | None = None
    log_level: LogLevel | None = None
    """How much nodes log."""
    log_format: LogFormat | None = None
    """How nodes log."""
    genesis_url: LongText = msgspec.field(default="", name="genesisURL")
    """Where the genesis file is loaded from: a file, packed or not, or the RPC of a node."""
    genesis_script: LongText = ""
    """A shell script for the genesis file, instead of a URL; it finds no curl, wget or jq."""
    addrbook_url: LongText = msgspec.field(default="", name="addrbookURL")
    """Where the address book is loaded from."""
    addrbook_script: LongText = ""
    """A shell script for the address book, instead of a URL; it finds no curl, wget or jq."""
    snapshot_url: LongText = msgspec.field(default="", name="snapshotURL")
    """Where the data of a new home are loaded from: a packed archive."""
    snapshot_script: LongText = ""
    """A shell script for the data of a new home, instead of a URL; it finds no curl, wget or jq."""
    state_sync: StateSync | None = None
    skip_invariants: bool = False
    """Start without checking the invariants of crisis."""
    privval_sleep_seconds: Annotated[int, Meta(ge=0, le=YEAR_SECONDS)] | None = None
    """Of sentries: how long a node waits for its signer before it starts; 10 if not given."""
    database_backend: str = ""
    """Empty means goleveldb."""
    versions: Annotated[tuple[ChainVersion, ...], Meta(max_length=MOST_VERSIONS)] = ()
    """By ascending height."""
    upgrade_grace_seconds: Seconds | None = None
    """How long a chain stands still at a version's height before a node that tells of no upgrade
    is replaced; not given, it is not before it halts, exits, or writes upgrade-info.json."""
    watch_upgrade_plans: bool = False
    """Ask the chain which upgrade it has planned, and warn if no version covers it."""
    additional_init_args: Words = ()
    """Further arguments of the program's init."""
    additional_start_args: Words = ()
    """Further arguments of the program's start."""
