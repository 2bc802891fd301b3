"""Admission policies of checks: each is bound to the namespace of its check, and known by it."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

from conformance.target import Target, until
from unit.cluster.api import JsonObject

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
NAMESPACE_LABEL = "kubernetes.io/metadata.name"
PROBE = "policy-probe"
"""A ConfigMap of this name is warned of once policies are in force."""


def rule(resources: str, operations: str = "*", group: str = "", **more: Any) -> JsonObject:
    return {
        "operations": operations.split(),
        "apiGroups": [group],
        "apiVersions": ["*"],
        "resources": resources.split(),
        **more,
    }


def constraints(*rules: JsonObject, **more: Any) -> JsonObject:
    return {"resourceRules": list(rules) or [rule("configmaps")], **more}


def validation(expression: str, **more: Any) -> JsonObject:
    return {"expression": expression, **more}


def policy(name: str, *validations: JsonObject, **spec: Any) -> JsonObject:
    content = {
        "matchConstraints": constraints(),
        **({"validations": list(validations)} if validations else {}),
        **spec,
    }
    return {"metadata": {"name": name}, "spec": content}


def binding(name: str, bound: str, namespace: str, **spec: Any) -> JsonObject:
    """What binds a policy in one namespace."""
    selector = {"matchLabels": {NAMESPACE_LABEL: namespace}}
    content = {
        "policyName": bound,
        "validationActions": ["Deny"],
        "matchResources": {"namespaceSelector": selector},
        **spec,
    }
    return {"metadata": {"name": name}, "spec": content}


class Policies:
    """The policies of a check; they go when it ends."""

    def __init__(self, target: Target) -> None:
        self._target, self._made = target, list[str]()
        self._probes = count()

    def name(self, name: str) -> str:
        return f"{name}.{self._target.namespace}"

    async def install(
        self,
        *validations: JsonObject,
        name: str = "p",
        bound: JsonObject | None = None,
        **spec: Any,
    ) -> str:
        """Put a policy into force, and return its name; its binding has it, too."""
        full = self.name(name)
        await self.create("validatingadmissionpolicies", policy(full, *validations, **spec))
        bind = binding(full, full, self._target.namespace, **(bound or {}))
        await self.create("validatingadmissionpolicybindings", bind)
        await self.in_force()
        return full

    async def create(self, plural: str, body: JsonObject, *, code: int = 201) -> JsonObject:
        """Make an object of a group, and remember it."""
        made = await self._target.create(f"{REGISTRATION}/{plural}", body, code=code)
        if code == 201:
            self._made.append(f"{REGISTRATION}/{plural}/{body['metadata']['name']}")
        return made

    async def in_force(self) -> None:
        """Wait until the policies hold that were made so far: a real server needs a second.

        It reads all of them together, so the last one tells of the others.
        """
        name = self.name(f"probe-{next(self._probes)}")
        await self._target.create(
            f"{REGISTRATION}/validatingadmissionpolicies",
            policy(name, validation("object.metadata.name != '" + PROBE + "'")),
        )
        bind = binding(name, name, self._target.namespace, validationActions=["Warn"])
        await self._target.create(f"{REGISTRATION}/validatingadmissionpolicybindings", bind)
        try:
            assert await until(partial(self._warned, name)), "the policy is not in force"
        finally:
            for plural in ("validatingadmissionpolicybindings", "validatingadmissionpolicies"):
                await self._target.send("DELETE", f"{REGISTRATION}/{plural}/{name}")

    async def remove(self) -> None:
        """Take every policy away."""
        for path in reversed(self._made):
            await self._target.send("DELETE", path)

    async def _warned(self, name: str) -> bool:
        body = {"metadata": {"name": PROBE}, "data": {}}
        path = self._target.path("configmaps")
        reply = await self._target.send("POST", path, body, dryRun="All")
        return name in reply.headers.get("warning", "")
