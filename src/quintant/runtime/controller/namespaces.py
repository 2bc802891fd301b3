"""The namespaces and the names that a declaration is held to, checked where they are written.

A mistake here is first heard of from a server otherwise: as a role that it refuses, or as a right
that is not there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.core.resource import resource_of

_LABEL = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LABEL_LENGTH = 63
_WORD = re.compile("[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
# A request to delete many names none of them, so the server cannot hold it to one.
_NAMELESS = "deletecollection"


def checked_namespaces(call: str, kind: type[Object], namespaces: Sequence[str]) -> tuple[str, ...]:
    """Namespaces for one kind; ConfigError if they are none, or the kind has none."""
    resource = resource_of(kind)
    if namespaces and not resource.namespaced:
        raise ConfigError(
            f"{call}({resource.kind}) names namespaces",
            because=f"{resource.kind} has none: its objects belong to the whole cluster",
            hint="drop namespaces=",
        )
    return legal_namespaces(f"{call}({resource.kind})", namespaces)


def legal_namespaces(call: str, namespaces: Sequence[str]) -> tuple[str, ...]:
    """Namespaces without repetition; ConfigError if one cannot be the name of any."""
    for name in _listed(call, "namespaces", namespaces):
        if not is_dns_label(name):
            raise ConfigError(
                f"{call} names the namespace {name!r}",
                because="a namespace is one word of a-z, 0-9 and -, of at most 63 characters",
                hint="namespaces=() is all of them" if not name else "",
            )
    return tuple(dict.fromkeys(namespaces))


def is_dns_label(name: str) -> bool:
    """Whether a text is one word of a-z, 0-9 and -, as a namespace is."""
    return _LABEL.fullmatch(name) is not None and len(name) <= _LABEL_LENGTH


def legal_selector(selector: str, call: str = "namespaces") -> Mapping[str, str]:
    """Labels of `team=a,tier`, the second with any value; ConfigError if they are none."""
    found: dict[str, str] = {}
    for term in selector.split(","):
        name, equals, value = (part.strip() for part in term.partition("="))
        prefix, slash, word = name.rpartition("/")
        legal = _WORD.fullmatch(word) and (_PREFIX.fullmatch(prefix) if slash else True)
        if not legal or (equals and not _WORD.fullmatch(value)) or found.get(name, value) != value:
            raise ConfigError(
                f"{call}(selector={selector!r}) selects none",
                because=f"{term!r} is no label with a value, and no name of a label",
                hint='selector="team=a,tier" has both labels, the second with any value',
            )
        found[name] = value
    return found


def checked_names(
    kind: type[Object], verbs: Sequence[str], names: Sequence[str]
) -> tuple[str, ...]:
    """The only objects a permission is for; ConfigError if it cannot be held to them."""
    call = f"uses({resource_of(kind).kind})"
    if not all(_listed(call, "names", names)):
        raise ConfigError(f"{call} names an object ''", hint="names=() is all of them")
    if names and _NAMELESS in verbs:
        raise ConfigError(
            f"{call} holds {_NAMELESS} to names",
            because="a request to delete many names none, and would always be refused",
            hint='use "delete", object by object',
        )
    return tuple(dict.fromkeys(names))


def _listed(call: str, word: str, names: Sequence[str]) -> Sequence[str]:
    if isinstance(names, str):  # a sequence too, of letters
        raise ConfigError(
            f"{call} gives {word} as a text", because="it is a list", hint=f'{word}=["{names}"]'
        )
    return names
