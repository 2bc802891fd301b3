"""networkingv1.IngressRule, HTTPIngressPath: from Ingresses to rules, and from a request to one.

    host: exact, then a wildcard for one label, then rules without a host
    path: the longest that matches; of two alike Exact, then that of the older Ingress
    none: the default backend of the oldest Ingress that has one

Pure. Paths are compared as they were sent, by elements between slashes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from quintant.cluster.kubeproxy.ingress.views import Ingress, IngressBackend
from quintant.core.object import Request

EXACT = "Exact"
ANY_HOST = ""
_WILDCARD = "*."


class BackendPort(NamedTuple):
    """A port of a Service, by name or number."""

    namespace: str
    service: str
    port: str | int


class PathRule(NamedTuple):
    """One path of a rule, and what is behind it; None where that is no Service."""

    path: str
    exact: bool
    backend: BackendPort | None

    def matches(self, path: str) -> bool:
        """Whether a path is this one, or below it."""
        if self.exact:
            return path == self.path
        prefix = self.path.rstrip("/")
        return not prefix or path == prefix or path.startswith(f"{prefix}/")


class IngressRules(Struct, frozen=True):
    """What one Ingress says."""

    created: str
    key: Request
    hosts: Mapping[str, tuple[PathRule, ...]]
    """Its paths by host."""
    default: PathRule | None = None
    """What gets all that matches no rule."""

    @property
    def age(self) -> tuple[str, str, str]:
        """Comes first where two say different things: the older, then by name."""
        return self.created, self.key.namespace, self.key.name


def ingress_rules(ingress: Ingress) -> IngressRules:
    """The rules of an Ingress."""
    spec, hosts = ingress.spec, dict[str, list[PathRule]]()
    namespace = ingress.metadata.namespace
    for rule in spec.rules:
        paths = hosts.setdefault(rule.host.lower(), [])
        for each in rule.http.paths if rule.http is not None else ():
            exact = each.path_type == EXACT
            paths.append(PathRule(each.path or "/", exact, _service_port(namespace, each.backend)))
    default = spec.default_backend
    return IngressRules(
        ingress.metadata.creation_timestamp or "",
        ingress.key,
        {host: tuple(paths) for host, paths in hosts.items()},
        None if default is None else PathRule("/", False, _service_port(namespace, default)),
    )


class RouteTable:
    """The rules of all Ingresses, by host."""

    def __init__(self, rules: Iterable[IngressRules] = ()) -> None:
        ordered = sorted(rules, key=lambda each: each.age)
        self._hosts: dict[str, list[PathRule]] = {}
        for each in ordered:
            for host, paths in each.hosts.items():
                self._hosts.setdefault(host, []).extend(paths)
        for found in self._hosts.values():
            # Stable: of two alike the older Ingress' is first.
            found.sort(key=lambda path: (-len(path.path.rstrip("/")), not path.exact))
        self._default = next((each.default for each in ordered if each.default is not None), None)

    def match(self, host: str, path: str) -> PathRule | None:
        """The rule for a request, its host in lower case and without a port."""
        for paths in self._candidates(host):
            for rule in paths:
                if rule.matches(path):
                    return rule
        return self._default

    def _candidates(self, host: str) -> Iterator[Sequence[PathRule]]:
        for name in dict.fromkeys((host, wildcard_of(host), ANY_HOST)):
            yield self._hosts.get(name, ())


def wildcard_of(host: str) -> str:
    """The wildcard that covers a host: `*.` for its first label; empty if there is none."""
    label, dot, rest = host.partition(".")
    return f"{_WILDCARD}{rest}" if label and dot and rest else ""


def _service_port(namespace: str, backend: IngressBackend) -> BackendPort | None:
    if backend.service is None:
        return None
    port = backend.service.port
    return BackendPort(namespace, backend.service.name, port.name or port.number)
