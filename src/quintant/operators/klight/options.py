"""The settings of klight, with the reason for each default.

    KLIGHT_PROBE_INTERVAL=5s  quintant operator klight
    quintant klight -inCluster=true --probe-interval 5s

Variables of its pod's environment and flags in the style of Go lead to the same `Options`; a value
that makes no sense is a ConfigError that names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import fields

from quintant.core import options
from quintant.core.errors import ConfigError
from quintant.core.options import SWITCH, Duration, Parser, parse_option, parser_of
from quintant.operators.klight.api import LABEL
from quintant.operators.klight.api.lightnetwork import Repair
from quintant.wire.lightpeer import PORT

PREFIX = "KLIGHT_"
"""What the names of variables begin with; then the option's, in capitals, with underscores."""
_LABEL = re.compile(
    r"(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
)
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)(?:=(.*))?", re.S)
_PROCESS = {
    "kubeconfig": "kubeconfig", "master": "master", "inCluster": "in_cluster",
    "namespaces": "namespaces", "leader-elect": "leader_elect", "metrics": "metrics",
    "probes": "probes",
}  # fmt: skip
"""Flags of the process itself, beside those of `Options`, and the fields they give."""


def _label(text: str) -> str:
    if _LABEL.fullmatch(text) is None:
        raise ValueError
    return text


class Options(Struct, frozen=True):
    """Durations are seconds; on the command line also 500ms, 10s, 5m."""

    label: Annotated[str, Parser(f"the key of a label, such as {LABEL}", _label)] = LABEL
    """The label that names a pod's network."""
    network_scope: Literal["namespace", "cluster"] = "namespace"
    """Whether equal ids in two namespaces are two networks, or one: tenants must not merge."""
    home: str = "default"
    """The namespace of the LightNetworks of networks that span namespaces."""
    default_port: Annotated[int, Meta(ge=1, le=65535)] = PORT
    """Where a peer listens whose pod names no port."""
    infer_port: bool = False
    """Take the only TCP port of a container called lightpeer; off, for parity with upstream."""
    workers: int = 32
    """Networks worked on at once; within a network, joins are one after another."""
    probe_interval: Duration = 10.0
    """How often members are checked, give or take a fifth."""
    down_after: Duration = 30.0
    """A member that fails every check for so long is down, and no longer a contact."""
    join_timeout: Duration = 10.0
    """How long a join may take, plus 10 ms per member: a chain is streamed meanwhile."""
    settle: Duration = 30.0
    """How long a join of unknown outcome is left alone: it may still be under way in the peer."""
    found_after: Duration = 0.5
    """A new network is founded once its pods have been still so long: the oldest founds it."""
    precheck_contact: bool = True
    """Check a contact before a pod is sent to it; without, dead ones cost a failed join."""
    adopt: Literal["query", "assume", "join"] = "query"
    """Unrecorded peers of another make, older than this process: members if their contents equal
    the contact's, members always, or never (upstream's way)."""
    repair: Repair = "manual"
    """Whether a split network is mended on request, by itself, or not at all."""
    repair_port: Annotated[int, Meta(ge=1, le=65535)] = 9082
    """Where peers of another make find us during a repair: their NetworkPolicy can name it."""
    token_file: str = ""
    """What is shown to peers that let only holders of a token have them leave; they read the same
    variable. Empty shows nothing."""
    gc_after: Duration = 300.0
    """How long a LightNetwork outlives its last pod."""


class Flags(Struct, frozen=True):
    """What the command line of the original controller may say, and ours besides."""

    options: Options = Options()
    kubeconfig: str = ""
    master: str = ""
    in_cluster: bool | None = None
    """None finds out by itself."""
    namespaces: tuple[str, ...] = ()
    leader_elect: bool = True
    """Two controllers that join at once tear networks."""
    metrics: str | None = None
    probes: str | None = None


def from_environment(environment: Mapping[str, str]) -> Options:
    """The options that an environment gives."""
    return options.from_environment(Options, environment, prefix=PREFIX)


def from_arguments(arguments: Sequence[str]) -> Flags:
    """What the flags say: `-flag value` or `-flag=value`, with one dash or two."""
    rest, values = list(arguments), {}
    while rest:
        word = rest.pop(0)
        flag = _FLAG.fullmatch(word)
        kind, field = _field_of(flag[1]) if flag is not None else (Flags, "")
        if flag is None or not field:
            raise ConfigError(f"{word} is no flag of klight", hint=", ".join(_names()))
        text = flag[2]
        if text is None:
            text = "true" if parser_of(kind, field) is SWITCH else rest.pop(0) if rest else ""
        values[kind, field] = parse_option(kind, field, text, name=f"--{flag[1]}")
    given = {field: value for (kind, field), value in values.items() if kind is Options}
    process = {field: value for (kind, field), value in values.items() if kind is Flags}
    return Flags(Options(**given), **process)


def _field_of(name: str) -> tuple[type[Any], str]:
    """Of what a flag gives a field, and which; none if there is no such flag."""
    if name in _PROCESS:
        return Flags, _PROCESS[name]
    field = name.replace("-", "_")
    return Options, field if any(each.name == field for each in fields(Options)) else ""


def _names() -> list[str]:
    return [*sorted(_PROCESS), *(each.name.replace("_", "-") for each in fields(Options))]
