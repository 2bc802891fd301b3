"""What is wrong with pods and their templates, and what of a pod may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quintant.cluster.causes import duplicate, forbidden_field, required, wrong
from quintant.cluster.checks.containers import container_causes
from quintant.cluster.checks.fields import address, chosen, labelled, named, within
from quintant.cluster.metadata import map_causes
from quintant.cluster.names import subdomain_complaints, word_complaints
from quintant.runtime.errors import Cause

DEADLINES = range(1, 2**31)
"""Seconds that a pod may be allowed to run."""
_RESTARTS = ("Always", "OnFailure", "Never")
_RESOLVERS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
# What a volume's source needs.
_NEEDED = {
    "configMap": "name",
    "hostPath": "path",
    "nfs": "server",
    "persistentVolumeClaim": "claimName",
    "secret": "secretName",
}
_FROZEN = (
    "pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
    "additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set "
    "to 1 if it was previously negative)"
)

_KEYLESS = (
    'operator must be Exists when `key` is empty, which means "match all values and all keys"'
)

Plain = dict[str, Any]


def pod_complaints(pod: Plain, live: Plain | None) -> Iterator[Cause]:
    """What is wrong with a pod, or with what an update makes of it."""
    yield from spec_causes("spec", pod["spec"])
    yield from _address_causes((pod.get("status") or {}).get("podIPs") or [])
    if live is not None:
        yield from _change_causes(pod["spec"], live["spec"])


def _address_causes(addresses: list[Plain]) -> Iterator[Cause]:
    path, found = "status.podIPs", [each.get("ip", "") for each in addresses]
    bad = [cause for at, ip in enumerate(found) for cause in address(f"{path}[{at}]", ip)]
    yield from bad
    if not bad and len({":" in ip for ip in found}) < len(found):
        shown = [{"IP": ip} for ip in found]
        yield wrong(path, shown, "may specify no more than one IP for each IP family")


def template_causes(path: str, template: Plain) -> Iterator[Cause]:
    """What is wrong with the template of pods."""
    yield from map_causes(template.get("metadata") or {}, path)
    yield from spec_causes(f"{path}.spec", template["spec"])


def spec_causes(path: str, spec: Plain) -> Iterator[Cause]:
    """What is wrong with what a pod shall be."""
    volumes: set[str] = set()
    yield from _volume_causes(f"{path}.volumes", spec.get("volumes") or [], volumes)
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    taken: set[str] = set()
    for which in ("containers", "initContainers"):
        containers = spec.get(which) or []
        yield from container_causes(f"{path}.{which}", containers, volumes, taken=taken)
    yield from chosen(f"{path}.restartPolicy", spec["restartPolicy"], _RESTARTS)
    yield from chosen(f"{path}.dnsPolicy", spec["dnsPolicy"], _RESOLVERS)
    yield from labelled(f"{path}.nodeSelector", spec.get("nodeSelector"))
    for name, naming in (
        ("serviceAccountName", subdomain_complaints),
        ("nodeName", subdomain_complaints),
        ("hostname", word_complaints),
        ("subdomain", word_complaints),
    ):
        if spec.get(name):
            yield from named(f"{path}.{name}", spec[name], naming)
    if "activeDeadlineSeconds" in spec:
        yield from within(f"{path}.activeDeadlineSeconds", spec["activeDeadlineSeconds"], DEADLINES)
    for at, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _toleration_causes(f"{path}.tolerations[{at}]", toleration)


def _volume_causes(path: str, volumes: list[Plain], names: set[str]) -> Iterator[Cause]:
    for at, volume in enumerate(volumes):
        where, name = f"{path}[{at}]", volume.get("name")
        yield from named(f"{where}.name", name, word_complaints)
        if name in names:
            yield duplicate(f"{where}.name", name)
        names |= {name} if name else set()
        sources = [source for source in volume if source != "name"]
        for source in sorted(sources, key="emptyDir".__ne__)[1:]:
            yield forbidden_field(f"{where}.{source}", "may not specify more than 1 volume type")
        for source in sources[:1]:
            needed = _NEEDED.get(source)
            if needed and not volume[source].get(needed):
                yield required(f"{where}.{source}.{needed}")


def _toleration_causes(where: str, toleration: Mapping[str, Any]) -> Iterator[Cause]:
    operator, value = toleration.get("operator"), toleration.get("value", "")
    if not toleration.get("key") and operator != "Exists":
        yield wrong(f"{where}.operator", operator or "", _KEYLESS)
    if operator == "Exists" and value:
        text = "value must be empty when `operator` is 'Exists'"
        yield wrong(f"{where}.operator", value, text)


_DEADLINE = "activeDeadlineSeconds"


def _change_causes(spec: Plain, before: Plain) -> Iterator[Cause]:
    for which in ("containers", "initContainers"):
        if len(spec.get(which) or ()) != len(before.get(which) or ()):
            text = "pod updates may not add or remove containers"
            yield forbidden_field(f"spec.{which}", text)
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
        yield forbidden_field("spec.tolerations", text)
    if _fixed(spec) != _fixed(before):
        yield forbidden_field("spec", _FROZEN)
    for gate in spec.get("schedulingGates") or ():
        if gate not in (before.get("schedulingGates") or ()):
            text = f"only deletion is allowed, but found new scheduling gate '{gate['name']}'"
            yield forbidden_field("spec.schedulingGates", text)


def _deadline_causes(deadline: int | None, before: int | None) -> Iterator[Cause]:
    if deadline is not None:
        yield from within(f"spec.{_DEADLINE}", deadline, range(2**31))
    if before is not None and deadline is None:
        text = "must not update from a positive integer to nil value"
        yield wrong(f"spec.{_DEADLINE}", None, text)
    elif before is not None and deadline is not None and before < deadline:
        text = "must be less than or equal to previous value"
        yield wrong(f"spec.{_DEADLINE}", deadline, text)


def _extends(spec: Plain, before: Plain) -> bool:
    """Tolerations are only ever added, whatever becomes of their seconds."""
    now = [_timeless(each) for each in spec.get("tolerations") or ()]
    return all(_timeless(each) in now for each in before.get("tolerations") or ())


def _timeless(toleration: Plain) -> Plain:
    return {**toleration, "tolerationSeconds": None}


def _fixed(spec: Plain) -> Plain:
    """What of a pod stays as it is."""
    kept = {**spec, **dict.fromkeys(("tolerations", "activeDeadlineSeconds", "schedulingGates"))}
    for which in ("containers", "initContainers"):
        kept[which] = [{**container, "image": ""} for container in spec.get(which) or ()]
    if spec.get("terminationGracePeriodSeconds", 0) in (1, -1):
        kept["terminationGracePeriodSeconds"] = 1
    return kept
