"""What is wrong with a PortalExpose or a TunnelClass, with the path of each field.

The webhooks refuse what these find; the controllers find it again, for the time when there are no
webhooks. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from ipaddress import ip_address
from typing import get_args
from urllib.parse import SplitResult, urlsplit

from quintant.api.scheduling import Toleration
from quintant.core.errors import Cause
from quintant.core.secret_hosts import url_host
from quintant.core.text import one_line
from quintant.operators.portal.api import (
    LABEL_LENGTH,
    LABEL_PATTERN,
    MOST_NODE_LABELS,
    MOST_RATE,
    MOST_RELAYS,
    MOST_REPLICAS,
    MOST_TOLERATIONS,
    TOKEN_RELAYS,
    TOKEN_TYPE,
    URL_LENGTH,
    ConfigMapKey,
    PortalExposeSpec,
    RateLimit,
    RateLimits,
    RelayTarget,
    RelayToken,
    SecretKey,
    Size,
    TunnelClassSpec,
)

NAME_LENGTH = 253
"""The most characters of the name of an object, and of a key in one."""

_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_DATA_KEY = re.compile(r"(?!\.\.?$)(?!\.\.)[-._a-zA-Z0-9]+")
_SERVICE = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")
_LABEL = re.compile(LABEL_PATTERN)
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_VALUE = re.compile("([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_OPERATORS = ("", "Exists", "Equal")
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_PORTS = range(1, 65536)
_REPLICAS = range(1, MOST_REPLICAS + 1)
_RATES = range(1, MOST_RATE + 1)


def validate_expose(spec: PortalExposeSpec) -> Iterator[Cause]:
    """Everything that is wrong with what shall be exposed."""
    app = spec.app
    if not _LABEL.fullmatch(app.name) or len(app.name) > LABEL_LENGTH:
        yield _wrong("spec.app.name", app.name, "must be a DNS label of at most 63 characters")
    if not _SERVICE.fullmatch(app.service.name) or len(app.service.name) > LABEL_LENGTH:
        yield _wrong("spec.app.service.name", app.service.name, "is not the name of a Service")
    if app.service.port not in _PORTS:
        yield _wrong("spec.app.service.port", app.service.port, "must be between 1 and 65535")
    yield from _validate_relays(spec.relay.targets)


def validate_class(spec: TunnelClassSpec) -> Iterator[Cause]:
    """Everything that is wrong with a class of tunnels."""
    if spec.replicas not in _REPLICAS:
        why = f"must be between 1 and {MOST_REPLICAS}"
        yield _wrong("spec.replicas", spec.replicas, why)
    if spec.size not in get_args(Size):
        yield _wrong("spec.size", spec.size, f"must be one of {', '.join(get_args(Size))}")
    if spec.rate_limits is not None:
        yield from _validate_rates(spec.rate_limits)
    yield from _validate_placement(spec)


def listed(causes: Iterable[Cause]) -> str:
    """All that is wrong, as the message of a condition."""
    return "; ".join(f"{cause.field}: {cause.message}" for cause in causes)


def _validate_relays(targets: Sequence[RelayTarget]) -> Iterator[Cause]:
    if not targets:
        yield Cause("FieldValueRequired", "at least one relay is needed", "spec.relay.targets")
    if len(targets) > MOST_RELAYS:
        yield _too_many("spec.relay.targets", targets, MOST_RELAYS)
        return
    names = Counter(target.name for target in targets)
    for at, target in enumerate(targets):
        item_path, name = f"spec.relay.targets[{at}]", target.name
        if names[name] > 1:
            yield Cause("FieldValueDuplicate", f'"{name}" is there twice', f"{item_path}.name")
        if not 0 < len(name) <= LABEL_LENGTH:
            yield _wrong(f"{item_path}.name", name, "must have 1 to 63 characters")
        if error := _url_error(target.url):
            yield Cause("FieldValueInvalid", error, f"{item_path}.url")
        yield from _validate_ref(f"{item_path}.authSecretRef", target.auth_secret_ref)
        yield from _validate_ref(f"{item_path}.caConfigMapRef", target.ca_config_map_ref)


def _validate_ref(path: str, ref: SecretKey | ConfigMapKey | None) -> Iterator[Cause]:
    """A pod with a name or key that cannot be would never be made."""
    if ref is None:
        return
    if not _OBJECT.fullmatch(ref.name) or len(ref.name) > NAME_LENGTH:
        yield _wrong(f"{path}.name", ref.name, "is not the name of an object")
    if ref.key and (not _DATA_KEY.fullmatch(ref.key) or len(ref.key) > NAME_LENGTH):
        yield _wrong(f"{path}.key", ref.key, "must have only letters, digits, '-', '_' and '.'")


def _validate_rates(limits: RateLimits) -> Iterator[Cause]:
    named: dict[str, RateLimit | None] = {
        "perVisitor": limits.per_visitor,
        "perExposure": limits.per_exposure,
    }
    for name, limit in named.items():
        rates = (limit.requests_per_second, limit.burst) if limit is not None else ()
        for rate in rates:
            if rate is not None and rate not in _RATES:
                yield _wrong(f"spec.rateLimits.{name}", rate, f"must be between 1 and {MOST_RATE}")


def _validate_placement(spec: TunnelClassSpec) -> Iterator[Cause]:
    if len(spec.node_selector) > MOST_NODE_LABELS:
        yield _too_many("spec.nodeSelector", spec.node_selector, MOST_NODE_LABELS)
        return
    if len(spec.tolerations) > MOST_TOLERATIONS:
        yield _too_many("spec.tolerations", spec.tolerations, MOST_TOLERATIONS)
        return
    for key, value in spec.node_selector.items():
        if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value) or len(value) > LABEL_LENGTH:
            yield _wrong("spec.nodeSelector", f"{key}={value}", "is not a label")
    for at, toleration in enumerate(spec.tolerations):
        if error := _toleration_error(toleration):
            yield Cause("FieldValueInvalid", error, f"spec.tolerations[{at}]")


def unshared(spec: PortalExposeSpec, tokens: Mapping[str, RelayToken]) -> Iterator[str]:
    """Which Secrets were not made for the relay that would see them, and what to do about it.

    Who may create a PortalExpose need not be allowed to read Secrets, and chooses the relay. So the
    Secret itself has to name it.
    """
    for target in spec.relay.targets:
        ref, host = target.auth_secret_ref, relay_host(target.url)
        if ref is None or (ref.name in tokens and host in tokens[ref.name].relays):
            continue
        known = ref.name in tokens
        fault = "does not name" if known else f"is not a Secret of type {TOKEN_TYPE} that names"
        hint = "annotate" if known else "create it with that type, and annotate"
        yield (
            f"relay '{target.name}': '{ref.name}' {fault} {host}; if that relay may see it, {hint}"
            f" it with {TOKEN_RELAYS}: {host}"
        )


def public_url(app: str, target: RelayTarget) -> str:
    """Where an app is found at a relay; nothing if the relay has no name to put one before."""
    host = relay_host(target.url)
    return f"https://{app}.{host}" if host and not is_address(target.url) else ""


def relay_host(url: str) -> str:
    """Host and port of a relay, as they stand in a URL of its apps; empty if there is none."""
    return url_host(url)


def is_address(url: str) -> bool:
    """Whether a relay is named by an IP address, before which no name can stand."""
    parts = _parts(url)
    try:
        ip_address((parts.hostname if parts else "") or "")
    except ValueError:
        return False
    return True


def _url_error(url: str) -> str:
    """The error never repeats the URL: what stands before an @ in it is a secret."""
    if len(url) > URL_LENGTH:
        return f"must have at most {URL_LENGTH} characters"
    parts = _parts(url)
    if parts is None or parts.scheme != "wss" or not parts.hostname:
        return "must be wss://host[:port][/path]"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user name or password; use authSecretRef"
    return "must not have a fragment" if parts.fragment else ""


def _parts(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # is read here, as it raises for what is no number
    except ValueError:
        return None
    return parts


def _toleration_error(toleration: Toleration) -> str:
    if toleration.operator not in _OPERATORS:
        return f'operator "{toleration.operator}" is neither Exists nor Equal'
    if toleration.effect not in _EFFECTS:
        return f'effect "{toleration.effect}" is none of {", ".join(_EFFECTS[1:])}'
    if not toleration.key and toleration.operator != "Exists":
        return "an empty key needs the operator Exists"
    return ""


def _wrong(field: str, value: object, why: str) -> Cause:
    text = f'"{one_line(value)}"' if isinstance(value, str) else value
    return Cause("FieldValueInvalid", f"Invalid value: {text}: {why}", field)


def _too_many(field: str, given: Sized, most: int) -> Cause:
    return Cause("FieldValueTooMany", f"has {len(given)} items, and at most {most} may be", field)
