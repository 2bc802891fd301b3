"""A server that enforces roles, as its administrator sees it, and as others do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from conformance.target import Target
from conformance.target import until as until
from quintant import Config
from quintant.client.config.tls import Pem
from quintant.client.config.user import AuthInfo
from quintant.client.http.transport import HttpTransport
from quintant.client.transport import ApiResponse
from quintant.keys.authority import Authority, Validity
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair
from unit.cluster.api import JsonObject, Requests

RBAC = "rbac.authorization.k8s.io"
ROLES = f"/apis/{RBAC}/v1"
AUTHENTICATION = "/apis/authentication.k8s.io/v1"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
SELF = f"{AUTHENTICATION}/selfsubjectreviews"


def term(days: float = 1.0) -> Validity:
    """From now on, for so long."""
    now = datetime.now(UTC)
    return Validity(now, now + timedelta(days=days))


class As(Requests):
    """The requests of an administrator who acts as somebody else."""

    def __init__(self, secured: SecuredServer, user: str) -> None:
        super().__init__(secured.transport)
        self.user = user

    async def send(
        self, method: str, path: str, body: Any = None, *, headers: Any = None, **more: Any
    ) -> ApiResponse:
        named = {"impersonate-user": self.user, **(headers or {})}
        return await super().send(method, path, body, headers=named, **more)

    async def code(self, method: str, path: str, body: Any = None, **more: Any) -> int:
        """How a request ends."""
        return (await self.send(method, path, body, **more)).status


class SecuredServer(Target):
    """The administrator's requests, a namespace, and whoever else is needed.

    `authority` signs client certificates that the server believes, if it believes any of ours.
    """

    def __init__(self, config: Config, authority: Authority | None, namespace: str) -> None:
        super().__init__(HttpTransport(config), namespace)
        self.config, self.authority = config, authority
        self._stack = AsyncExitStack()

    def acting(self, name: str) -> As:
        """A user of the namespace's own, so that checks do not meet: the name is made unique."""
        return As(self, f"{name}.{self.namespace}")

    async def holding(self, user: AuthInfo) -> Requests:
        """Requests with these credentials, or none."""
        transport = HttpTransport(replace(self.config, user=user))
        self._stack.push_async_callback(transport.close)
        return Requests(transport)

    async def bearing(self, token: str) -> Requests:
        """Requests with a bearer token."""
        return await self.holding(AuthInfo(token=Sensitive(token)))

    async def certified(self, pair: KeyPair, token: str = "") -> Requests:
        """Requests with a client certificate, and perhaps a token beside it."""
        certificate, key = Pem("client-certificate", pair.certificate), Pem("client-key", pair.key)
        return await self.holding(
            AuthInfo(token=Sensitive(token), certificate=certificate, key=key)
        )

    async def grant(self, user: As, *rules: JsonObject) -> None:
        """Give somebody a role in the namespace, and wait until it holds."""
        name = f"grant-{user.user}"
        await self.create(self.rbac("roles"), {"metadata": {"name": name}, "rules": list(rules)})
        await self.create(self.rbac("rolebindings"), binding(name, "Role", name, subject(user)))
        await self.held(user, rules[0])

    async def grant_everywhere(self, user: As, *rules: JsonObject) -> str:
        """Give somebody a cluster role, and wait until it holds; its name."""
        name = f"{self.namespace}:{user.user}"
        role = {"metadata": {"name": name}, "rules": list(rules)}
        await self.create(f"{ROLES}/clusterroles", role)
        bound = binding(name, "ClusterRole", name, subject(user))
        await self.create(f"{ROLES}/clusterrolebindings", bound)
        await self.held(user, rules[0])
        return name

    async def held(self, user: As, rule: JsonObject) -> None:
        """Wait until a rule holds for somebody."""
        attributes = _attributes(rule, self.namespace)
        asked = {"spec": {"user": user.user, **attributes}}

        async def allowed() -> bool:
            told = await self.create(f"{AUTHORIZATION}/subjectaccessreviews", asked)
            return bool(told["status"]["allowed"])

        assert await until(allowed)

    def rbac(self, plural: str, name: str = "") -> str:
        """Where roles and bindings of the namespace are."""
        return self.path(plural, name, f"{RBAC}/v1")

    async def close(self) -> None:
        await self._stack.aclose()
        await self.transport.close()


async def whoami(requests: Requests) -> JsonObject:
    """Whom the server takes somebody for."""
    told = await requests.create(SELF, {})
    found: JsonObject = told["status"]["userInfo"]
    return found


def rule(verbs: str, resources: str, group: str = "", **more: Any) -> JsonObject:
    """A rule from words."""
    return {
        "verbs": verbs.split(),
        "apiGroups": [group],
        "resources": resources.split(),
        **more,
    }


def subject(user: As | str) -> JsonObject:
    name = user if isinstance(user, str) else user.user
    return {"kind": "User", "apiGroup": RBAC, "name": name}


def binding(name: str, kind: str, role: str, *subjects: JsonObject) -> JsonObject:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": list(subjects),
    }


def message(status: Mapping[str, Any]) -> str:
    text: str = status["message"]
    return text


def _attributes(rule: JsonObject, namespace: str) -> JsonObject:
    if "nonResourceURLs" in rule:
        path = rule["nonResourceURLs"][0].replace("*", "x")
        return {"nonResourceAttributes": {"path": path, "verb": rule["verbs"][0]}}
    resource, _, sub = rule["resources"][0].partition("/")
    asked = {
        "namespace": namespace,
        "verb": rule["verbs"][0],
        "group": rule["apiGroups"][0],
        "resource": resource,
        "subresource": sub,
        "name": next(iter(rule.get("resourceNames") or ()), ""),
    }
    return {"resourceAttributes": asked}


@asynccontextmanager
async def opened(secured: SecuredServer) -> AsyncIterator[SecuredServer]:
    """A server with its namespace, for as long as the context lasts."""
    try:
        await secured.create("/api/v1/namespaces", {"metadata": {"name": secured.namespace}})
        yield secured
    finally:
        await secured.close()
