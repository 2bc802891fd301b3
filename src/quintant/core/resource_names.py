"""What the API server accepts as group, version, kind and plural, checked where a kind is declared.

Without it a typing mistake is first heard of from a server, as a 404 or as a definition that is
never established. Groups without a dot and those of `k8s.io` and `kubernetes.io` belong to
Kubernetes: a definition in them needs an approval that no generated one has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quintant.core.errors import ConfigError

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_GROUP = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_NAME = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_KIND = re.compile("[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?")
# The longest name of an object: a definition is called PLURAL.GROUP.
_GROUP_LENGTH = 253
_NAME_LENGTH = 63
# What a role calls every group and every resource: such a class stands for permissions alone.
_EVERYTHING = "*"
_PROTECTED = ("k8s.io", "kubernetes.io")


def is_kubernetes_group(group: str) -> bool:
    """Whether a domain name is one below which only Kubernetes defines kinds."""
    return any(f".{group}".endswith(f".{end}") for end in _PROTECTED)


def check_resource_names(
    name: str, *, group: str, version: str, kind: str, plural: str, defined: bool
) -> None:
    """ConfigError if the class `name` says what no API server accepts.

    `defined` kinds are those for which a CustomResourceDefinition is made.
    """
    if group == plural == _EVERYTHING:
        return
    for word, value, because, hint in _troubles(group, version, kind, plural, defined):
        raise ConfigError(f"{name} cannot have the {word} {value!r}", because=because, hint=hint)


def _troubles(
    group: str, version: str, kind: str, plural: str, defined: bool
) -> Iterator[tuple[str, str, str, str]]:
    if group and (_GROUP.fullmatch(group) is None or len(group) > _GROUP_LENGTH):
        because = "a group is a domain name in lower case, and has no version in it"
        yield "group", group, because, _better_group(group)
    if defined and "." not in group:
        because = "groups without a dot belong to Kubernetes; one of your own is a domain"
        hint = f'group="{group or kind.lower()}.example.com", or external=True for its kinds'
        yield "group", group, because, hint
    if not _is_name(version):
        because = "a version is a name in lower case that begins with a letter"
        yield "version", version, because, 'version="v1", or v1alpha1, v1beta2 and so on'
    if _KIND.fullmatch(kind) is None or len(kind) > _NAME_LENGTH:
        better = re.sub(r"[^A-Za-z0-9]", "", kind.title())
        yield "kind", kind, "a kind is one word", f'kind="{better or "Shop"}"'
    if not _is_name(plural):
        because = "a plural is a name in lower case: it is a part of the URL"
        yield "plural", plural, because, f'plural="{plural.lower().replace(" ", "")}"'


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and len(text) <= _NAME_LENGTH


def _better_group(group: str) -> str:
    domain, slash, version = group.partition("/")
    better = re.sub("[^-.a-z0-9]", "-", domain.lower()).strip("-.")
    return f'group="{better}", version="{version}"' if slash else f'group="{better}"'
