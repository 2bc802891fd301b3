"""Who the agents are to the API server, and the little that they may do there. Pure.

An agent reads its own device, says how it is, and asks where telemetry goes. It reads no Secrets:
where a device or a service names one, an administrator lets it read that one.
"""

from __future__ import annotations

from collections.abc import Sequence

from quintant.api.core import ServiceAccount
from quintant.api.rbac import GROUP as RBAC
from quintant.api.rbac import PolicyRule, Role, RoleBinding, RoleRef, Subject
from quintant.core.object import Object, ObjectMeta
from quintant.operators.shifu.api.names import DEVICES, GROUP, TELEMETRY_NAMESPACE
from quintant.operators.shifu.builders.deployment import AGENT_ACCOUNT

TELEMETRY_ACCOUNT = "telemetry-service-sa"
_DEVICES, _SERVICES = "edgedevices", "telemetryservices"
OURS = (
    PolicyRule(api_groups=(GROUP,), resources=(_DEVICES,), verbs=("get", "watch")),
    PolicyRule(api_groups=(GROUP,), resources=(f"{_DEVICES}/status",), verbs=("patch",)),
    PolicyRule(api_groups=(GROUP,), resources=(_SERVICES,), verbs=("get",)),
    # What is wrong with a ConfigMap is an event of the device.
    PolicyRule(api_groups=("events.k8s.io",), resources=("events",), verbs=("create",)),
)
UPSTREAM = (
    # Theirs get the whole device and put it back, every second; ours patch its status in it.
    PolicyRule(
        api_groups=(GROUP,), resources=(_DEVICES,), verbs=("get", "patch", "update", "watch")
    ),
    *OURS[2:],
)


def agent_accounts(
    namespace: str, device_namespaces: Sequence[str], rules: tuple[PolicyRule, ...]
) -> tuple[Object, ...]:
    """The accounts of deviceShifus (in `namespace`) and of telemetry, with their roles."""
    roles = (
        each for of_devices in device_namespaces or (DEVICES,)
        for each in _role(of_devices, rules, namespace)
    )  # fmt: skip
    return (
        _account(AGENT_ACCOUNT, namespace),
        _account(TELEMETRY_ACCOUNT, TELEMETRY_NAMESPACE),
        *roles,
    )


def _account(name: str, namespace: str) -> ServiceAccount:
    return ServiceAccount(metadata=ObjectMeta(name=name, namespace=namespace))


def _role(namespace: str, rules: tuple[PolicyRule, ...], home: str) -> tuple[Role, RoleBinding]:
    meta = ObjectMeta(name="deviceshifu", namespace=namespace)
    subject = Subject(kind="ServiceAccount", name=AGENT_ACCOUNT, namespace=home)
    ref = RoleRef(api_group=RBAC, kind="Role", name=meta.name)
    return Role(metadata=meta, rules=rules), RoleBinding(
        metadata=meta, role_ref=ref, subjects=(subject,)
    )
