"""What is read of pods and their templates: whose they are, and where they may run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from quintant.api.quantity import Quantity
from quintant.core.object import Model, Request
from quintant.operators.shifu.api.names import DEVICES, NAME_VARIABLE, NAMESPACE_VARIABLE
from quintant.operators.shifu.observed.interned import device_key, shared
from quintant.operators.shifu.rules.amounts import amount_of


class _Env(Model):
    name: str = ""
    value: str = ""


class _Resources(Model):
    requests: Mapping[str, Quantity] = {}


class ContainerFields(Model):
    """A container: its environment, and what it asks for."""

    env: tuple[_Env, ...] = ()
    resources: _Resources = _Resources()


class _Field(Model):
    key: str = ""
    values: tuple[str, ...] = ()


class _Term(Model):
    match_fields: tuple[_Field, ...] = ()


class _Terms(Model):
    node_selector_terms: tuple[_Term, ...] = ()


class _NodeAffinity(Model):
    required: _Terms = msgspec.field(
        default=_Terms(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class _Affinity(Model):
    node_affinity: _NodeAffinity = _NodeAffinity()


class PodSpecFields(Model):
    """A pod: where it is, and where it may be."""

    node_name: str = ""
    containers: tuple[ContainerFields, ...] = ()
    affinity: _Affinity = _Affinity()


def device_of(containers: Iterable[ContainerFields]) -> Request | None:
    """The device that a pod is to serve."""
    for container in containers:
        variables = {each.name: each.value for each in container.env}
        if name := variables.get(NAME_VARIABLE):
            return device_key(name, variables.get(NAMESPACE_VARIABLE) or DEVICES)
    return None


def memory_of(spec: PodSpecFields) -> int:
    """Bytes that the agent of a pod asks for; 0 if it does not say."""
    return amount_of(spec.containers[0].resources.requests, "memory") if spec.containers else 0


def node_of(spec: PodSpecFields) -> str:
    """The one node that a pod may run on; empty if it may run on others."""
    terms = spec.affinity.node_affinity.required.node_selector_terms
    fields = [field for term in terms for field in term.match_fields]
    if len(terms) != 1 or len(fields) != 1 or fields[0].key != "metadata.name":
        return ""
    return shared(fields[0].values[0]) if len(fields[0].values) == 1 else ""
