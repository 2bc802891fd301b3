"""Klight's settings as text: variables of its pod's environment, or flags in the style of Go.

    KLIGHT_PROBE_INTERVAL=5s  quintant operator klight
    quintant klight -inCluster=true --probe-interval 5s

Both lead to `Options`; a value that makes no sense is a ConfigError that names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

from msgspec.structs import fields

from quintant.core import options
from quintant.core.errors import ConfigError
from quintant.core.options import SWITCH, parse_option
from quintant.operators.klight.options import Options

PREFIX = "KLIGHT_"
"""What the names of variables begin with; then the option's, in capitals, with underscores."""
# Flags of the process itself, beside those of `Options`; these need no value.
_PROCESS = ("kubeconfig", "master", "inCluster", "namespaces", "leader-elect", "metrics", "probes")
_SWITCHES = ("inCluster", "leader-elect")


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line of the original controller may say, and ours besides."""

    options: Options
    kubeconfig: str = ""
    master: str = ""
    in_cluster: bool | None = None
    """None finds out by itself."""
    namespaces: tuple[str, ...] = ()
    leader_elect: bool = False
    metrics: str | None = None
    probes: str | None = None


def from_environment(environment: Mapping[str, str]) -> Options:
    """The options that an environment gives."""
    return options.from_environment(Options, environment, prefix=PREFIX)


def from_arguments(arguments: Sequence[str]) -> Flags:
    """What the flags say: `-flag value` or `-flag=value`, with one dash or two."""
    given = _parsed(arguments)
    named = {name.replace("-", "_"): text for name, text in given.items() if name not in _PROCESS}
    given_options = {
        name: parse_option(Options, name, text, name=f"--{name.replace('_', '-')}")
        for name, text in named.items()
    }
    inside = given.get("inCluster")
    return Flags(
        Options(**given_options),
        given.get("kubeconfig", ""),
        given.get("master", ""),
        None if inside is None else SWITCH.read("-inCluster", inside),
        tuple(filter(None, given.get("namespaces", "").split(","))),
        SWITCH.read("--leader-elect", given.get("leader-elect", "false")),
        given.get("metrics"),
        given.get("probes"),
    )


def _parsed(arguments: Sequence[str]) -> dict[str, str]:
    found, rest = {}, list(arguments)
    while rest:
        word = rest.pop(0)
        flag = re.fullmatch(r"--?([A-Za-z][\w-]*)(?:=(.*))?", word, re.S)
        if flag is None or not _known(flag[1]):
            raise ConfigError(
                f"{word} is no flag of klight", hint=", ".join(sorted(_PROCESS) + _names())
            )
        name, value = flag[1], flag[2]
        if value is None:
            value = "true" if _switch(name) else rest.pop(0) if rest else ""
        found[name] = value
    return found


def _known(name: str) -> bool:
    return name in _PROCESS or name.replace("-", "_") in _types()


def _switch(name: str) -> bool:
    return name in _SWITCHES or _types().get(name.replace("-", "_")) is bool


def _names() -> list[str]:
    return [each.name.replace("_", "-") for each in fields(Options)]


def _types() -> dict[str, Any]:
    return get_type_hints(Options)
