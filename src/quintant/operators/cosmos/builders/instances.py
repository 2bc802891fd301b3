"""What all children have in common: their names, their labels, and which instances there are. Pure.

A name follows from its owner's, and is cut in the middle where it is too long, so that the ordinal
at its end stays. What a user writes into metadata never takes the place of what children are found
by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from quintant.core.object import ObjectMeta
from quintant.operators.cosmos.api import (
    COMPONENT_LABEL,
    CREATED_BY,
    CREATED_BY_LABEL,
    FULL_NODE,
    INSTANCE_LABEL,
    NAME_LABEL,
    NETWORK_LABEL,
    ORDINAL,
    REVISION_LABEL,
    TYPE_LABEL,
    VERSION_LABEL,
)
from quintant.operators.cosmos.api.full_node import (
    MOST_REPLICAS,
    CosmosFullNode,
    InstanceOverride,
    TemplateMetadata,
)
from quintant.runtime.apply import RevisionMark, fnv1

MARK = RevisionMark(
    key=REVISION_LABEL, carrier="label", hash=fnv1, ordinal=ORDINAL, skip=("spec.dataSource",)
)
NAME_LENGTH, LABEL_LENGTH = 253, 63
SENTRY = "Sentry"
# What children are selected by: no label of the CosmosFullNode takes its place.
_FIXED = (NAME_LABEL, INSTANCE_LABEL, COMPONENT_LABEL, CREATED_BY_LABEL)
_NO_OVERRIDE = InstanceOverride()


def trim_middle(text: str, limit: int) -> str:
    """A text of at most so many characters: its beginning and its end."""
    if len(text) <= limit:
        return text
    return text[: limit // 2] + text[len(text) - (limit - limit // 2) :]


@lru_cache(8192)  # names are made in every pass, and there are few
def to_name(text: str) -> str:
    """A text as the name of an object."""
    return trim_middle(re.sub(r"[^A-Za-z0-9.-]", "", text).strip(".-"), NAME_LENGTH)


@lru_cache(1024)
def to_label_key(text: str) -> str:
    """A text as the key of a label or an annotation."""
    return trim_middle(re.sub(r"[^A-Za-z0-9._/-]", "", text).strip("._-/"), LABEL_LENGTH)


def to_dns_label(text: str) -> str:
    """A text as the name of a Service or a host: without dots, and short."""
    name = to_name(text).replace(".", "-")
    return trim_middle(name if name[:1].isalpha() else f"n{name}", LABEL_LENGTH)


def app_name(full_node: CosmosFullNode) -> str:
    """What the names of children begin with."""
    return to_name(full_node.metadata.name)


@dataclass(frozen=True, slots=True)
class Instance:
    """One node: a pod, a volume, a configuration and a Service."""

    name: str
    ordinal: int
    index: int
    """Among the instances, from 0 on, whatever the first ordinal is."""
    app: str
    """The name of its CosmosFullNode, as its children have it."""

    @property
    def claim(self) -> str:
        return to_name(f"pvc-{self.name}")


def instance_name(full_node: CosmosFullNode, ordinal: int) -> str:
    """The name of an instance, and of its pod."""
    return to_name(f"{app_name(full_node)}-{ordinal}")


def instances(full_node: CosmosFullNode) -> tuple[Instance, ...]:
    """All instances, by ordinal; no more than there can be, whatever is stored."""
    start, app = full_node.spec.ordinals.start or 0, app_name(full_node)
    return tuple(
        Instance(instance_name(full_node, start + index), start + index, index, app)
        for index in range(min(full_node.spec.replicas, MOST_REPLICAS))
    )


def override_of(full_node: CosmosFullNode, name: str) -> InstanceOverride:
    """What is otherwise for an instance."""
    return full_node.spec.instance_overrides.get(name, _NO_OVERRIDE)


def is_sentry(full_node: CosmosFullNode) -> bool:
    """Whether its nodes wait for a signer."""
    return full_node.spec.type == SENTRY


def image_version(image: str) -> str:
    """What the version label says of an image: its tag, or its digest, or latest."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return trim_middle(tag or digest.rpartition(":")[2] or "latest", LABEL_LENGTH)


def labels(full_node: CosmosFullNode, component: str = FULL_NODE, **more: str) -> dict[str, str]:
    """The labels of a child: ours, then those of its owner; `instance` and `version` if given."""
    own = {key: value for key, value in full_node.metadata.labels.items() if key not in _FIXED}
    given = {f"app.kubernetes.io/{key}": value for key, value in more.items() if value}
    return {
        VERSION_LABEL: image_version(full_node.spec.pod_template.image or ""),
        NETWORK_LABEL: full_node.spec.chain.network,
        TYPE_LABEL: full_node.spec.type or "FullNode",
        **own,
        CREATED_BY_LABEL: CREATED_BY,
        COMPONENT_LABEL: component,
        NAME_LABEL: app_name(full_node),
        **given,
    }


def metadata(
    full_node: CosmosFullNode,
    name: str,
    given: Mapping[str, str],
    ordinal: int,
    template: TemplateMetadata = TemplateMetadata(),
    annotations: Mapping[str, str] | None = None,
) -> ObjectMeta:
    """The metadata of a child; a template only adds what is not set."""
    noted = {**template.annotations, **(annotations or {}), ORDINAL: str(ordinal)}
    return ObjectMeta(
        name=name,
        namespace=full_node.metadata.namespace,
        labels={
            to_label_key(key): trim_middle(value, LABEL_LENGTH)
            for key, value in {**template.labels, **given}.items()
        },
        annotations={to_label_key(key): value for key, value in noted.items()},
    )
