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


def applied(expression: str) -> JsonObject:
    """A mutation that applies a configuration."""
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def json_patch(expression: str) -> JsonObject:
    """A mutation that is a JSON patch."""
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def mutating_policy(name: str, *mutations: JsonObject, **spec: Any) -> JsonObject:
    content = {
        "matchConstraints": constraints(rule("configmaps", "CREATE UPDATE")),
        "reinvocationPolicy": "Never",
        **({"mutations": list(mutations)} if mutations else {}),
        **spec,
    }
    return {"metadata": {"name": name}, "spec": content}


def mutating_binding(name: str, bound: str, namespace: str, **spec: Any) -> JsonObject:
    """What binds a mutating policy in one namespace."""
    body = binding(name, bound, namespace, **spec)
    del body["spec"]["validationActions"]
    return body


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

    async def install_mutating(
        self,
        *mutations: JsonObject,
        name: str = "p",
        bound: JsonObject | None = None,
        **spec: Any,
    ) -> str:
        """The same of a mutating policy."""
        full = self.name(name)
        await self.create("mutatingadmissionpolicies", mutating_policy(full, *mutations, **spec))
        bind = mutating_binding(full, full, self._target.namespace, **(bound or {}))
        await self.create("mutatingadmissionpolicybindings", bind)
        await self.mutating_in_force()
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

    async def mutating_in_force(self) -> None:
        """Wait until the mutating policies hold that were made so far."""
        name = self.name(f"probe-{next(self._probes)}")
        label = f"Object{{metadata: Object.metadata{{labels: {{'probe': '{name}'}}}}}}"
        # What the policies of a check are about may be refused by them.
        covered = constraints(rule("secrets", "CREATE"))
        await self._target.create(
            f"{REGISTRATION}/mutatingadmissionpolicies",
            mutating_policy(name, applied(label), matchConstraints=covered),
        )
        bind = mutating_binding(name, name, self._target.namespace)
        await self._target.create(f"{REGISTRATION}/mutatingadmissionpolicybindings", bind)
        try:
            assert await until(partial(self._labelled, name)), "the policy is not in force"
        finally:
            for plural in ("mutatingadmissionpolicybindings", "mutatingadmissionpolicies"):
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

    async def _labelled(self, name: str) -> bool:
        body = {"metadata": {"name": PROBE}}
        made = await self._target.create(self._target.path("secrets"), body, dryRun="All")
        return bool(made["metadata"].get("labels", {}).get("probe") == name)
