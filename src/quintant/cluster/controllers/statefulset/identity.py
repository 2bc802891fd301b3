"""identityMatches, newStatefulSetPod: name, ordinal, host name and claims of a pod."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from quintant.api.apps import StatefulSet
from quintant.api.core import PersistentVolumeClaim
from quintant.cluster.controllers.history import HASH
from quintant.cluster.controllers.pods.templates import NewPod, TemplateMeta, parse_template
from quintant.cluster.controllers.pods.views import PodState
from quintant.core.object import Model, Object, ObjectMeta, Opaque
from quintant.core.owner import owned
from quintant.core.resource import projection

POD_NAME = "statefulset.kubernetes.io/pod-name"
INDEX = "apps.kubernetes.io/pod-index"
_MEMBER = re.compile(r"(.*)-([0-9]+)", re.ASCII)


class ClaimMeta(TemplateMeta):
    """What of a claim template's metadata goes into its claims."""

    name: str = ""


class ClaimParts(Model):
    """A claim template, looked into as far as necessary."""

    metadata: ClaimMeta = ClaimMeta()
    spec: msgspec.Raw = msgspec.Raw(b"{}")


@projection(PersistentVolumeClaim)
class NewClaim(Object):
    """A claim to be made: its spec is a template's."""

    spec: Opaque = Opaque(b"{}")


def pod_ordinal(name: str, pod: str) -> int | None:
    """The number of a pod in the set of this name; None if it is no member."""
    match = _MEMBER.fullmatch(pod)
    return int(match[2]) if match is not None and match[1] == name else None


def pod_name(sets: StatefulSet, number: int) -> str:
    """The name of the pod with a number."""
    return f"{sets.metadata.name}-{number}"


def labels(sets: StatefulSet, number: int) -> dict[str, str]:
    """The labels by which a pod is known as the one with a number."""
    return {POD_NAME: pod_name(sets, number), INDEX: str(number)}


def identity_matches(sets: StatefulSet, number: int, pod: PodState) -> bool:
    """Whether a pod says itself which one it is."""
    return pod.metadata.labels.get(POD_NAME) == pod_name(sets, number)


def claims(sets: StatefulSet, number: int) -> dict[str, NewClaim]:
    """The claims of the pod with a number, by the names of its volumes."""
    made = {}
    for template in sets.spec.volume_claim_templates:
        parts = msgspec.json.decode(template.raw, type=ClaimParts)
        name = parts.metadata.name
        made[name] = NewClaim(
            metadata=ObjectMeta(
                name=f"{name}-{sets.metadata.name}-{number}",
                namespace=sets.metadata.namespace,
                labels={**parts.metadata.labels, **sets.spec.selector.match_labels},
                annotations=parts.metadata.annotations,
                finalizers=parts.metadata.finalizers,
            ),
            spec=Opaque(bytes(parts.spec)),
        )
    return made


def pod_of(sets: StatefulSet, template: Opaque, revision: str, number: int) -> NewPod:
    """The pod with a number, from the template of a revision."""
    meta, name = parse_template(template).metadata, pod_name(sets, number)
    held = {volume: claim.metadata.name for volume, claim in claims(sets, number).items()}
    made = NewPod(
        metadata=ObjectMeta(
            name=name,
            generate_name=f"{sets.metadata.name}-",
            namespace=sets.metadata.namespace,
            labels={**meta.labels, **labels(sets, number), HASH: revision},
            annotations=meta.annotations,
            finalizers=meta.finalizers,
        ),
        spec=_placed(template, name, sets.spec.service_name, held),
    )
    return owned(made, by=sets)


def _placed(template: Opaque, name: str, service: str, held: Mapping[str, str]) -> Opaque:
    """The spec of a template with a host name, and with claims for volumes of their name."""
    spec: dict[str, Any] = template.value["spec"]
    spec |= {"hostname": name, **({"subdomain": service} if service else {})}
    others = [each for each in spec.get("volumes") or () if each["name"] not in held]
    volumes = [
        {"name": volume, "persistentVolumeClaim": {"claimName": claim}}
        for volume, claim in held.items()
    ]
    if volumes or others:
        spec["volumes"] = volumes + others
    return Opaque.of(spec)
