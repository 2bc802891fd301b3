"""ValidatePodCreate, ValidatePodUpdate: pods and templates, and what of a pod may change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from quintant.cluster.apiserver.meta.field_errors import forbidden, invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import (
    dns1123_label_errors,
    dns1123_subdomain_errors,
    qualified_name_errors,
)
from quintant.cluster.apiserver.meta.objectmeta import validate_labels_and_annotations
from quintant.cluster.apiserver.meta.types import JsonObject, ValidationResult
from quintant.cluster.apiserver.validation.common import (
    validate_enum,
    validate_ip,
    validate_labels,
    validate_quantity,
    validate_range,
    validate_required_name,
)
from quintant.cluster.apiserver.validation.pods.containers import container_causes, init_causes
from quintant.cluster.apiserver.validation.pods.ephemeral import (
    ephemeral_causes,
    ephemeral_update_causes,
)
from quintant.cluster.apiserver.validation.pods.scheduling import (
    affinity_causes,
    gate_causes,
    spread_causes,
    toleration_causes,
)
from quintant.cluster.apiserver.validation.pods.sysctls import sysctl_causes
from quintant.cluster.apiserver.validation.pods.volumes import volume_causes
from quintant.core.errors import Cause

DEADLINES = range(1, 2**31)
"""Seconds that a pod may be allowed to run."""
MOST_SERVERS = 3
"""Name servers of a pod: more are not looked at."""
RECENT, SHORT_BYTES = 256, 8192
"""Specs that are known to be right, and how long they may be: every status comes with its own."""
_IDS = range(2**31)
_NAMES = (
    ("serviceAccountName", dns1123_subdomain_errors),
    ("nodeName", dns1123_subdomain_errors),
    ("hostname", dns1123_label_errors),
    ("subdomain", dns1123_label_errors),
)
_RESTARTS = ("Always", "OnFailure", "Never")
_RESOLVERS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)


def validate_pod(pod: JsonObject, live: JsonObject | None) -> Iterator[Cause]:
    """What is wrong with a pod, or with what an update makes of it."""
    yield from spec_causes("spec", pod["spec"])
    if live is None and pod["spec"].get("ephemeralContainers"):
        yield forbidden("spec.ephemeralContainers", "cannot be set on create")
    yield from _address_causes((pod.get("status") or {}).get("podIPs") or [])


def validate_pod_update(
    pod: JsonObject, live: JsonObject | None, sub: str, others: Sequence[Cause]
) -> ValidationResult:
    """What an update of a pod may not change, as a whole or by a subresource."""
    if live is None:
        return ValidationResult()
    causes = ephemeral_update_causes if sub == "ephemeralcontainers" else _change_causes
    return ValidationResult([*causes(pod["spec"], live["spec"])])


def _address_causes(addresses: list[JsonObject]) -> Iterator[Cause]:
    path, found = "status.podIPs", [each.get("ip", "") for each in addresses]
    bad = [cause for at, ip in enumerate(found) for cause in validate_ip(f"{path}[{at}]", ip)]
    yield from bad
    if not bad and len({":" in ip for ip in found}) < len(found):
        shown = [{"IP": ip} for ip in found]
        yield invalid(path, shown, "may specify no more than one IP for each IP family")


def template_causes(path: str, template: JsonObject) -> Iterator[Cause]:
    """What is wrong with the template of pods."""
    yield from validate_labels_and_annotations(template.get("metadata") or {}, path)
    yield from spec_causes(f"{path}.spec", template["spec"])
    if template["spec"].get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        yield forbidden(f"{path}.spec.ephemeralContainers", text)


def spec_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with what a pod shall be, in the order of a real server."""
    raw = msgspec.json.encode(spec)
    if len(raw) > SHORT_BYTES or not _is_flawless(raw):
        yield from _spec_causes(path, spec)


@lru_cache(RECENT)
def _is_flawless(raw: bytes) -> bool:
    return not any(_spec_causes("spec", msgspec.json.decode(raw)))


def _spec_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    yield from _run_causes(path, spec)
    yield from validate_enum(f"{path}.restartPolicy", spec["restartPolicy"], _RESTARTS)
    yield from validate_enum(f"{path}.dnsPolicy", spec["dnsPolicy"], _RESOLVERS)
    yield from validate_labels(f"{path}.nodeSelector", spec.get("nodeSelector"))
    yield from _security_causes(path, spec)
    yield from affinity_causes(f"{path}.affinity", spec.get("affinity") or {})
    yield from _resolver_causes(f"{path}.dnsConfig", spec)
    yield from _gate_causes(f"{path}.readinessGates", spec.get("readinessGates") or [])
    yield from gate_causes(f"{path}.schedulingGates", spec.get("schedulingGates") or [])
    spreads = spec.get("topologySpreadConstraints") or []
    yield from spread_causes(f"{path}.topologySpreadConstraints", spreads)
    yield from _name_causes(path, spec)
    yield from toleration_causes(f"{path}.tolerations", spec.get("tolerations") or [])
    yield from _other_causes(path, spec)


def _run_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    """What is wrong with containers and their volumes."""
    volumes: set[str] = set()
    yield from volume_causes(f"{path}.volumes", spec.get("volumes") or [], volumes)
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    taken: set[str] = set()
    grace = spec.get("terminationGracePeriodSeconds") or 0
    for which in ("containers", "initContainers"):
        containers, field_path = spec.get(which) or [], f"{path}.{which}"
        yield from container_causes(field_path, containers, volumes, taken=taken, grace=grace)
    yield from init_causes(f"{path}.initContainers", spec.get("initContainers") or [])
    yield from ephemeral_causes(f"{path}.ephemeralContainers", spec, volumes)


def _gate_causes(path: str, gates: list[JsonObject]) -> Iterator[Cause]:
    for at, gate in enumerate(gates):
        kind = gate.get("conditionType") or ""
        yield from invalid_each(f"{path}[{at}].conditionType", kind, qualified_name_errors(kind))


def _name_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    for name, naming in _NAMES:
        if spec.get(name):
            yield from validate_required_name(f"{path}.{name}", spec[name], naming)
    if "activeDeadlineSeconds" in spec:
        yield from validate_range(
            f"{path}.activeDeadlineSeconds", spec["activeDeadlineSeconds"], DEADLINES
        )


def _other_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    for at, alias in enumerate(spec.get("hostAliases") or ()):
        yield from _alias_causes(f"{path}.hostAliases[{at}]", alias)
    for name, amount in (spec.get("overhead") or {}).items():
        yield from validate_quantity(f"{path}.overhead.limits[{name}]", amount)
    if spec.get("os") is not None:
        yield from _system_causes(f"{path}.os", spec["os"].get("name") or "")


def _security_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    context, field_path = spec.get("securityContext") or {}, f"{path}.securityContext"
    for name in ("fsGroup", "runAsUser", "runAsGroup"):
        if context.get(name) is not None:
            yield from validate_range(f"{field_path}.{name}", context[name], _IDS)
    for at, group in enumerate(context.get("supplementalGroups") or ()):
        yield from validate_range(f"{field_path}.supplementalGroups[{at}]", group, _IDS)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield invalid(f"{field_path}.shareProcessNamespace", True, text)
    yield from sysctl_causes(f"{field_path}.sysctls", spec)
    if context.get("fsGroupChangePolicy") is not None:
        policy = context["fsGroupChangePolicy"]
        yield from validate_enum(
            f"{field_path}.fsGroupChangePolicy", policy, ("Always", "OnRootMismatch")
        )


def _resolver_causes(path: str, spec: JsonObject) -> Iterator[Cause]:
    config = spec.get("dnsConfig")
    if spec["dnsPolicy"] == "None" and config is None:
        yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
    servers = (config or {}).get("nameservers") or []
    if len(servers) > MOST_SERVERS:
        text = f"must not have more than {MOST_SERVERS} nameservers"
        yield invalid(f"{path}.nameservers", servers, text)
    for at, server in enumerate(servers):
        yield from validate_ip(f"{path}.nameservers[{at}]", server)
    for at, option in enumerate((config or {}).get("options") or ()):
        if not option.get("name"):
            yield required(f"{path}.options[{at}]", "must not be empty")


def _alias_causes(path: str, alias: JsonObject) -> Iterator[Cause]:
    yield from validate_ip(f"{path}.ip", alias.get("ip") or "")
    for at, name in enumerate(alias.get("hostnames") or ()):
        yield from invalid_each(f"{path}.hostnames[{at}]", name, dns1123_subdomain_errors(name))


def _system_causes(path: str, name: str) -> Iterator[Cause]:
    if not name:
        yield required(f"{path}.name")
    else:
        yield from validate_enum(path, name, ("linux", "windows"))


_DEADLINE = "activeDeadlineSeconds"


def _change_causes(spec: JsonObject, before: JsonObject) -> Iterator[Cause]:
    for which in ("containers", "initContainers"):
        if len(spec.get(which) or ()) != len(before.get(which) or ()):
            text = "pod updates may not add or remove containers"
            yield forbidden(f"spec.{which}", text)
            return
    for which in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(which) or ()):
            if not container.get("image"):
                yield required(f"spec.{which}[{at}].image")
    late = [*_deadline_causes(spec.get(_DEADLINE), before.get(_DEADLINE))]
    yield from late
    if late and spec.get(_DEADLINE) is not None:
        return
    if not _extends(spec, before):
        text = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", text)
    if _fixed(spec) != _fixed(before):
        yield forbidden("spec", _FROZEN)
    for gate in spec.get("schedulingGates") or ():
        if gate not in (before.get("schedulingGates") or ()):
            text = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield forbidden("spec.schedulingGates", text)


def _deadline_causes(deadline: int | None, before: int | None) -> Iterator[Cause]:
    if deadline is not None:
        yield from validate_range(f"spec.{_DEADLINE}", deadline, range(2**31))
    if before is not None and deadline is None:
        text = "must not update from a positive integer to nil value"
        yield invalid(f"spec.{_DEADLINE}", None, text)
    elif before is not None and deadline is not None and before < deadline:
        text = "must be less than or equal to previous value"
        yield invalid(f"spec.{_DEADLINE}", deadline, text)


def _extends(spec: JsonObject, before: JsonObject) -> bool:
    """Tolerations are only ever added, whatever becomes of their seconds."""
    now = [_timeless(each) for each in spec.get("tolerations") or ()]
    return all(_timeless(each) in now for each in before.get("tolerations") or ())


def _timeless(toleration: JsonObject) -> JsonObject:
    return {**toleration, "tolerationSeconds": None}


def _fixed(spec: JsonObject) -> JsonObject:
    """What of a pod stays as it is."""
    kept = {**spec, **dict.fromkeys(("tolerations", "activeDeadlineSeconds", "schedulingGates"))}
    for which in ("containers", "initContainers"):
        kept[which] = [{**container, "image": ""} for container in spec.get(which) or ()]
    if spec.get("terminationGracePeriodSeconds", 0) in (1, -1):
        kept["terminationGracePeriodSeconds"] = 1
    return kept
