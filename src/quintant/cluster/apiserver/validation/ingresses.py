"""ValidateIngressCreate, ValidateIngressClass: hosts, paths, backends, controllers."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from quintant.cluster.apiserver.meta.field_errors import (
    forbidden,
    invalid,
    invalid_each,
    required,
    too_long,
)
from quintant.cluster.apiserver.meta.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    path_segment_errors,
    wildcard_dns1123_subdomain_errors,
)
from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.validation.common import (
    PORTS,
    validate_domain_path,
    validate_enum,
    validate_immutable,
    validate_port_name,
    validate_range,
    validate_required_name,
)
from quintant.core.errors import Cause

CONTROLLER_LIMIT = 250
"""Characters of a controller's name."""
_CLASS = "kubernetes.io/ingress.class"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_ODD_PARTS = ("//", "/./", "/../", "%2f", "%2F")
_ODD_ENDS = ("/..", "/.")
_SCOPES = ("Cluster", "Namespace")


def validate_ingress(ingress: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an Ingress."""
    spec = ingress["spec"]
    rules, backend = spec.get("rules") or [], spec.get("defaultBackend")
    if not rules and backend is None:
        yield invalid("spec", None, "either `defaultBackend` or `rules` must be specified")
    if backend is not None:
        yield from _backend_causes("spec.defaultBackend", backend)
    for at, rule in enumerate(rules):
        yield from _rule_causes(f"spec.rules[{at}]", rule)
    for at, tls in enumerate(spec.get("tls") or ()):
        yield from _tls_causes(f"spec.tls[{at}]", tls)
    name = spec.get("ingressClassName")
    if name is not None:
        yield from invalid_each("spec.ingressClassName", name, dns1123_subdomain_errors(name))
    annotation = (ingress["metadata"].get("annotations") or {}).get(_CLASS)
    if live is None and None not in (name, annotation) and name != annotation:
        text = "must match `ingressClassName` when both are specified"
        yield invalid(f"annotations.{_CLASS}", annotation, text)


def validate_ingress_class(kind: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with an IngressClass."""
    spec, path = kind["spec"], "spec.controller"
    controller = spec.get("controller") or ""
    if live is not None:
        yield from validate_immutable(path, controller, live["spec"].get("controller") or "")
    if len(controller) > CONTROLLER_LIMIT:
        yield too_long(path, CONTROLLER_LIMIT)
    yield from validate_domain_path(path, controller)
    if spec.get("parameters") is not None:
        yield from _parameter_causes("spec.parameters", spec["parameters"])


def _rule_causes(field_path: str, rule: JsonObject) -> Iterator[Cause]:
    host, http = rule.get("host") or "", rule.get("http")
    if _is_address(host):
        yield invalid(f"{field_path}.host", host, "must be a DNS name, not an IP address")
    if host:
        yield from _host_causes(f"{field_path}.host", host)
    if http is None:
        return
    if not http.get("paths"):
        yield required(f"{field_path}.http.paths")
    for at, path in enumerate(http.get("paths") or ()):
        yield from _path_causes(f"{field_path}.http.paths[{at}]", path)


def _is_address(text: str) -> bool:
    try:
        return bool(ip_address(text))
    except ValueError:
        return False


def _host_causes(path: str, host: str) -> Iterator[Cause]:
    naming = wildcard_dns1123_subdomain_errors if "*" in host else dns1123_subdomain_errors
    yield from invalid_each(path, host, naming(host))


def _path_causes(field_path: str, each: JsonObject) -> Iterator[Cause]:
    kind, path = each.get("pathType"), each.get("path") or ""
    if kind is None:
        yield required(f"{field_path}.pathType", "pathType must be specified")
        return
    yield from validate_enum(f"{field_path}.pathType", kind, _PATH_TYPES)
    exact = kind in ("Exact", "Prefix")
    if kind in _PATH_TYPES and not path.startswith("/") and (path or exact):
        yield invalid(f"{field_path}.path", path, "must be an absolute path")
    odd = [f"must not contain '{part}'" for part in _ODD_PARTS if part in path]
    odd += [f"cannot end with '{end}'" for end in _ODD_ENDS if path.endswith(end)]
    yield from invalid_each(f"{field_path}.path", path, odd if exact else [])
    yield from _backend_causes(f"{field_path}.backend", each.get("backend") or {})


def _backend_causes(path: str, backend: JsonObject) -> Iterator[Cause]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference_causes(f"{path}.resource", resource)
    elif service is not None:
        yield from validate_required_name(
            f"{path}.service.name", service.get("name"), dns1123_label_errors
        )
        yield from _port_causes(path, service.get("port") or {})
    else:
        yield invalid(path, "", "resource or service backend is required")


def _port_causes(path: str, port: JsonObject) -> Iterator[Cause]:
    name, number = port.get("name"), port.get("number")
    if name and number:
        yield invalid(path, "", "cannot set both port name & port number")
    elif name:
        yield from validate_port_name(f"{path}.service.port.name", name)
    elif number:
        yield from validate_range(f"{path}.service.port.number", number, PORTS)
    else:
        yield required(path, "port name or number is required")


def _tls_causes(path: str, tls: JsonObject) -> Iterator[Cause]:
    for at, host in enumerate(tls.get("hosts") or ()):
        yield from _host_causes(f"{path}.hosts[{at}]", host)
    if name := tls.get("secretName"):
        yield from invalid_each(f"{path}.secretName", name, dns1123_subdomain_errors(name))


def _reference_causes(path: str, reference: JsonObject) -> Iterator[Cause]:
    group = reference.get("apiGroup")
    if group is not None:
        yield from invalid_each(f"{path}.apiGroup", group, dns1123_subdomain_errors(group))
    for name in ("kind", "name"):
        yield from validate_required_name(
            f"{path}.{name}", reference.get(name), path_segment_errors
        )


def _parameter_causes(path: str, reference: JsonObject) -> Iterator[Cause]:
    yield from _reference_causes(path, reference)
    scope, namespace = reference.get("scope"), reference.get("namespace")
    yield from validate_enum(f"{path}.scope", scope, _SCOPES)
    if scope == "Namespace" and namespace is None:
        yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
    elif scope == "Namespace" and namespace is not None:
        yield from invalid_each(f"{path}.namespace", namespace, dns1123_label_errors(namespace))
    elif scope == "Cluster" and namespace is not None:
        yield forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")


INGRESSES = {"ingresses": validate_ingress, "ingressclasses": validate_ingress_class}
