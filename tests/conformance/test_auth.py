"""Who one is to a server, what one may do there, and what one may give to others."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from conformance.secured_server import (
    AUTHENTICATION,
    AUTHORIZATION,
    RBAC,
    ROLES,
    SELF,
    As,
    SecuredServer,
    binding,
    message,
    rule,
    subject,
    term,
    until,
    whoami,
)
from quintant.client.config.user import AuthInfo, Impersonate
from quintant.cluster.apiserver.authentication import jwt
from quintant.core.errors import TransportError
from quintant.keys.authority import Authority, Validity
from unit.cluster.api import JsonObject, Requests, config_map, pod

AUDIENCE = "https://kubernetes.default.svc"
REVIEWS = f"{AUTHENTICATION}/tokenreviews"


# Roles


@pytest.mark.parametrize(
    ("granted", "allowed", "denied"),
    [
        (
            rule("get list", "configmaps"),
            ["GET configmaps", "GET configmaps/a"],
            ["DELETE configmaps/a", "DELETE configmaps", "GET secrets", "POST configmaps"],
        ),
        (rule("*", "*"), ["GET configmaps", "DELETE configmaps/none"], ["GET apps/v1 deployments"]),
        (
            rule("*", "*", "*"),
            ["GET configmaps", "GET apps/v1 deployments", "GET pods/a/log"],
            [],
        ),
        (
            rule("get list delete deletecollection", "configmaps", resourceNames=["a"]),
            ["GET configmaps/a", "GET configmaps?fieldSelector=metadata.name=a"],
            ["GET configmaps/b", "GET configmaps", "DELETE configmaps"],
        ),
        (rule("get", "pods/log"), ["GET pods/a/log"], ["GET pods/a", "GET pods/a/status"]),
        (rule("get", "*/status"), ["GET pods/a/status"], ["GET pods/a", "GET pods/a/log"]),
        (rule("get", "pods"), ["GET pods/a"], ["GET pods/a/status", "GET pods"]),
    ],
)
async def test_rules_allow_what_they_name(
    secured: SecuredServer, granted: JsonObject, allowed: list[str], denied: list[str]
) -> None:
    alice = secured.acting("alice")
    await secured.create(secured.path("configmaps"), config_map("a"))
    await secured.grant(alice, granted)
    for asked in allowed:
        assert await _code(secured, alice, asked) != 403, asked
    for asked in denied:
        assert await _code(secured, alice, asked) == 403, asked


async def _code(secured: SecuredServer, user: As, asked: str) -> int:
    """How `GET apps/v1 deployments/a` ends in the check's namespace."""
    method, *api, place = asked.split()
    path, _, query = place.partition("?")
    full = secured.path(path, api=api[0] if api else "v1")
    name, _, value = query.partition("=")
    return await user.code(method, full, **({name: value} if query else {}))


async def test_a_role_holds_in_its_namespace_only(secured: SecuredServer) -> None:
    alice = secured.acting("alice")
    await secured.grant(alice, rule("list", "configmaps"))
    assert await alice.code("GET", secured.path("configmaps")) == 200
    assert await alice.code("GET", secured.elsewhere("default", "configmaps")) == 403
    refused = await alice.get("/api/v1/configmaps", code=403)
    assert message(refused) == (
        f'configmaps is forbidden: User "{alice.user}" cannot list resource "configmaps" in API '
        'group "" at the cluster scope'
    )


async def test_a_cluster_role_holds_everywhere_or_where_it_is_bound(secured: SecuredServer) -> None:
    alice, bob = secured.acting("alice"), secured.acting("bob")
    role = await secured.grant_everywhere(alice, rule("list", "configmaps nodes"))
    assert await alice.code("GET", "/api/v1/configmaps") == 200
    assert await alice.code("GET", "/api/v1/nodes") == 200
    bound = binding("local", "ClusterRole", role, subject(bob))
    await secured.create(secured.rbac("rolebindings"), bound)
    await secured.held(bob, rule("list", "configmaps"))
    assert await bob.code("GET", secured.path("configmaps")) == 200
    assert await bob.code("GET", "/api/v1/configmaps") == 403
    assert await bob.code("GET", "/api/v1/nodes") == 403


async def test_paths_are_granted_apart(secured: SecuredServer) -> None:
    alice = secured.acting("alice")
    await secured.grant_everywhere(
        alice, {"verbs": ["get"], "nonResourceURLs": ["/healthz/*", "/metrics"]}
    )
    assert await alice.code("GET", "/healthz/ping") == 200
    assert await alice.code("GET", "/livez/ping") == 403
    refused = await alice.create("/metrics", {}, code=403)
    assert message(refused) == f'forbidden: User "{alice.user}" cannot post path "/metrics"'


async def test_a_missing_role_is_told_in_the_refusal(secured: SecuredServer) -> None:
    alice = secured.acting("alice")
    bound = binding("dangling", "Role", "gone", subject(alice))
    await secured.create(secured.rbac("rolebindings"), bound)

    async def refusal() -> JsonObject:
        return await alice.get(secured.path("pods"), code=403)

    told = await until(refusal, lambda status: "RBAC" in message(status))
    assert message(told).endswith(f': RBAC: role.{RBAC} "gone" not found')


async def test_an_update_that_creates_takes_the_permission_to_create(
    secured: SecuredServer,
) -> None:
    alice = secured.acting("alice")
    leases = "coordination.k8s.io/v1"
    await secured.grant(
        alice, rule("patch", "configmaps"), rule("update", "leases", "coordination.k8s.io")
    )
    refused = await alice.apply(
        secured.path("configmaps", "a"), config_map("a"), "checks", code=403
    )
    assert message(refused) == (
        f'configmaps "a" is forbidden: User "{alice.user}" cannot create resource "configmaps" in '
        f'API group "" in the namespace "{secured.namespace}"'
    )
    lease = {"metadata": {"name": "a"}}
    assert await alice.code("PUT", secured.path("leases", "a", leases), lease) == 403
    assert await alice.code("PUT", secured.path("configmaps", "a"), config_map("a")) == 403
    await secured.create(secured.path("configmaps"), config_map("a"))
    await alice.apply(secured.path("configmaps", "a"), config_map("a"), "checks")


@pytest.mark.parametrize(
    ("role", "allowed", "denied"),
    [
        ("view", "get pods|list deployments.apps", "get secrets|create pods|get roles.rbac"),
        ("edit", "create pods|get secrets|create serviceaccounts/token", "create roles.rbac"),
        ("admin", "create pods|create roles|list rolebindings", "create resourcequotas"),
        ("cluster-admin", "create pods|delete nodes|bind clusterroles", ""),
    ],
)
async def test_everybody_can_rely_on_the_usual_roles(
    secured: SecuredServer, role: str, allowed: str, denied: str
) -> None:
    alice = secured.acting("alice")
    await secured.create(
        secured.rbac("rolebindings"), binding(role, "ClusterRole", role, subject(alice))
    )
    await secured.held(alice, _wish(allowed.split("|")[0]))
    for wish in allowed.split("|"):
        assert await _may(secured, alice, _wish(wish)), wish
    for wish in filter(None, denied.split("|")):
        assert not await _may(secured, alice, _wish(wish)), wish


_GROUPS = {"roles": RBAC, "rolebindings": RBAC, "clusterroles": RBAC, "deployments": "apps"}


def _wish(text: str) -> JsonObject:
    verb, resource = text.split()
    plural = resource.partition(".")[0]
    return rule(verb, plural, _GROUPS.get(plural, ""))


async def _may(secured: SecuredServer, user: As, wish: JsonObject) -> bool:
    asked = {
        "namespace": secured.namespace,
        "verb": wish["verbs"][0],
        "group": wish["apiGroups"][0],
        "resource": wish["resources"][0].partition("/")[0],
        "subresource": wish["resources"][0].partition("/")[2],
    }
    path = f"{AUTHORIZATION}/selfsubjectaccessreviews"
    told = await user.create(path, {"spec": {"resourceAttributes": asked}})
    return bool(told["status"]["allowed"])


# Acting as somebody else


async def test_an_administrator_may_act_as_anybody(secured: SecuredServer) -> None:
    found = await whoami(secured.acting("alice"))
    assert found["groups"] == ["system:authenticated"]
    account = As(secured, f"system:serviceaccount:{secured.namespace}:bot")
    assert (await whoami(account))["groups"] == [
        "system:serviceaccounts",
        f"system:serviceaccounts:{secured.namespace}",
        "system:authenticated",
    ]
    nobody = As(secured, "system:anonymous")
    assert "system:anonymous" in message(await nobody.create(SELF, {}, code=403))


async def test_groups_uid_and_extra_are_taken_over(secured: SecuredServer) -> None:
    admin = secured.config.user
    who = Impersonate("ann", "u1", ("crew", "deck, aft"), {"dev.quintant/x": ("1", "2")})
    ann = await secured.holding(_with(admin, who))
    assert await whoami(ann) == {
        "username": "ann",
        "uid": "u1",
        "groups": ["crew", "deck, aft", "system:authenticated"],
        "extra": {"dev.quintant/x": ["1", "2"]},
    }


def _with(user: AuthInfo, impersonate: Impersonate) -> AuthInfo:
    return AuthInfo(
        token=user.token,
        certificate=user.certificate,
        key=user.key,
        impersonate=impersonate,
    )


async def test_a_group_needs_a_user(secured: SecuredServer) -> None:
    refused = await secured.create(SELF, {}, code=400, headers={"impersonate-group": "crew"})
    assert message(refused) == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"crew"}, '
        "Extra:map[string][]string(nil)} without impersonating a user name"
    )


async def test_acting_as_somebody_takes_permission_for_each_part(secured: SecuredServer) -> None:
    bot = await _bot(secured, "bot")
    agent = As(secured, bot.user)
    await secured.grant_everywhere(
        agent,
        rule("impersonate", "users", resourceNames=["bob"]),
        rule("impersonate", "groups", resourceNames=["crew"]),
        rule("impersonate", "uids", "authentication.k8s.io", resourceNames=["u1"]),
        rule("impersonate", "userextras/scopes", "authentication.k8s.io", resourceNames=["s"]),
    )
    full = {
        "impersonate-user": "bob",
        "impersonate-group": "crew",
        "impersonate-uid": "u1",
        "impersonate-extra-scopes": "s",
    }
    told = await bot.create(SELF, {}, headers=full)
    assert told["status"]["userInfo"]["username"] == "bob"
    wrong = {
        "impersonate-user": 'users "no" is forbidden: User "{}" cannot impersonate resource '
        '"users" in API group "" at the cluster scope',
        "impersonate-group": 'groups "no" is forbidden: User "{}" cannot impersonate resource '
        '"groups" in API group "" at the cluster scope',
        "impersonate-uid": 'uids.authentication.k8s.io "no" is forbidden: User "{}" cannot '
        'impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
        "impersonate-extra-scopes": 'userextras.authentication.k8s.io "no" is forbidden: User '
        '"{}" cannot impersonate resource "userextras/scopes" in API group '
        '"authentication.k8s.io" at the cluster scope',
    }
    for header, text in wrong.items():
        refused = await bot.create(SELF, {}, code=403, headers={**full, header: "no"})
        assert message(refused) == text.format(bot.user)


async def test_whoever_never_acted_as_another_is_told_of_the_narrow_permission(
    secured: SecuredServer,
) -> None:
    nobody = await secured.holding(AuthInfo())
    for other, mode in (
        ("bob", "user-info"),
        ("system:serviceaccount:a:b", "serviceaccount"),
        ("system:node:n", "arbitrary-node"),
    ):
        refused = await nobody.get("/healthz", code=403, headers={"impersonate-user": other})
        assert message(refused) == (
            f'forbidden: User "system:anonymous" cannot impersonate-on:{mode}:get path "/healthz"'
        )


async def test_a_narrow_permission_is_for_one_verb(secured: SecuredServer) -> None:
    bot = await _bot(secured, "narrow")
    await secured.grant_everywhere(
        As(secured, bot.user),
        rule("impersonate:user-info", "users", "authentication.k8s.io", resourceNames=["bob"]),
        rule("impersonate-on:user-info:create", "selfsubjectreviews", "authentication.k8s.io"),
        rule("impersonate:user-info", "groups", "authentication.k8s.io"),
    )
    bob = {"impersonate-user": "bob"}
    told = await bot.create(SELF, {}, headers=bob)
    assert told["status"]["userInfo"]["username"] == "bob"
    await bot.get(secured.path("pods"), code=403, headers=bob)
    masters = {**bob, "impersonate-group": "system:masters"}
    refused = await bot.create(SELF, {}, code=403, headers=masters)
    assert message(refused).endswith("impersonating the system:masters group is not allowed")


# Reviews of access


async def test_reviews_give_the_reason_of_a_decision(secured: SecuredServer) -> None:
    alice, space = secured.acting("alice"), secured.namespace
    await secured.grant(alice, rule("get", "pods"))
    account = {"kind": "ServiceAccount", "name": "bot"}
    crew = {"kind": "Group", "apiGroup": RBAC, "name": f"crew-{space}"}
    bound = binding("both", "Role", f"grant-{alice.user}", account, crew)
    await secured.create(secured.rbac("rolebindings"), bound)
    bot = f"system:serviceaccount:{space}:bot"
    await secured.held(As(secured, bot), rule("get", "pods"))
    reason = f'RBAC: allowed by RoleBinding "{{}}/{space}" of Role "grant-{alice.user}" to {{}}'
    asked = {"namespace": space, "verb": "get", "resource": "pods"}
    for spec, told in (
        ({"user": alice.user}, reason.format(f"grant-{alice.user}", f'User "{alice.user}"')),
        ({"user": bot}, reason.format("both", f'ServiceAccount "bot/{space}"')),
        ({"groups": [crew["name"]]}, reason.format("both", f'Group "{crew["name"]}"')),
    ):
        path = f"{AUTHORIZATION}/subjectaccessreviews"
        review = await secured.create(path, {"spec": {**spec, "resourceAttributes": asked}})
        assert review["status"] == {"allowed": True, "reason": told}
    local = f"{AUTHORIZATION}/namespaces/{space}/localsubjectaccessreviews"
    body = {"spec": {"user": alice.user, "resourceAttributes": asked}}
    assert (await secured.create(local, body))["status"]["allowed"]
    own = {"spec": {"resourceAttributes": asked | {"verb": "delete"}}}
    path = f"{AUTHORIZATION}/selfsubjectaccessreviews"
    assert (await alice.create(path, own))["status"] == {"allowed": False}
    assert (await secured.create(path, own))["status"] == {"allowed": True}


async def test_a_review_must_ask_one_thing_about_somebody(secured: SecuredServer) -> None:
    path = f"{AUTHORIZATION}/subjectaccessreviews"
    refused = await secured.create(path, {"spec": {}}, code=422)
    assert message(refused) == (
        '.authorization.k8s.io "" is invalid: [spec.resourceAttributes: Invalid value: null: '
        "exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: "
        'Invalid value: "": at least one of user or group must be specified]'
    )
    both = {"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/"}}
    refused = await secured.create(path, {"spec": {"user": "a", **both}}, code=422)
    assert message(refused) == (
        '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: '
        '{"Path":"/","Verb":""}: cannot be specified in combination with resourceAttributes'
    )
    local = f"{AUTHORIZATION}/namespaces/{secured.namespace}/localsubjectaccessreviews"
    elsewhere = {"user": "a", "resourceAttributes": {"verb": "get", "namespace": "default"}}
    refused = await secured.create(local, {"spec": elsewhere}, code=422)
    assert message(refused) == (
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: '
        '"default": must match metadata.namespace'
    )
    paths = {"user": "a", "nonResourceAttributes": {"verb": "get", "path": "/x"}}
    refused = await secured.create(local, {"spec": paths}, code=422)
    assert "disallowed on this kind of request" in message(refused)


async def test_everybody_may_ask_what_they_may_do(secured: SecuredServer) -> None:
    alice = secured.acting("alice")
    granted = rule("get", "pods", resourceNames=["a"])
    await secured.grant(alice, granted)
    path = f"{AUTHORIZATION}/selfsubjectrulesreviews"
    review = await alice.create(path, {"spec": {"namespace": secured.namespace}})
    status = review["status"]
    assert granted in status["resourceRules"]
    assert rule("create", "selfsubjectreviews", "authentication.k8s.io") in status["resourceRules"]
    urls = [path for each in status["nonResourceRules"] for path in each["nonResourceURLs"]]
    assert {"/healthz", "/version", "/openapi/*"} <= set(urls)
    assert not status["incomplete"]
    assert message(await alice.create(path, {"spec": {}}, code=400)) == "no namespace on request"


async def test_questions_are_asked_by_posting_and_are_not_kept(secured: SecuredServer) -> None:
    for path in (REVIEWS, SELF, f"{AUTHORIZATION}/selfsubjectaccessreviews"):
        await secured.get(path, code=405)
        await secured.get(f"{path}/x", code=404)
    await secured.create(f"{AUTHORIZATION}/localsubjectaccessreviews", {"spec": {}}, code=404)


# Tokens of service accounts


class Bot(Requests):
    """A service account with its own token."""

    def __init__(self, requests: Requests, user: str, token: str) -> None:
        super().__init__(requests.transport)
        self.user, self.token = user, token


async def _account(secured: SecuredServer, name: str) -> JsonObject:
    return await secured.create(secured.path("serviceaccounts"), {"metadata": {"name": name}})


async def _token(secured: SecuredServer, name: str, **spec: Any) -> str:
    made = await secured.create(secured.path("serviceaccounts", name, sub="token"), {"spec": spec})
    token: str = made["status"]["token"]
    return token


async def _bot(secured: SecuredServer, name: str) -> Bot:
    await _account(secured, name)
    token = await _token(secured, name)
    user = f"system:serviceaccount:{secured.namespace}:{name}"
    return Bot(await secured.bearing(token), user, token)


def _claims(token: str) -> JsonObject:
    parts = jwt.parse(token)
    assert parts is not None
    claims: JsonObject = msgspec.json.decode(parts.claims)
    return claims


async def _review(secured: SecuredServer, token: str, *audiences: str) -> JsonObject:
    spec: JsonObject = {"token": token} | ({"audiences": list(audiences)} if audiences else {})
    status: JsonObject = (await secured.create(REVIEWS, {"spec": spec}))["status"]
    return status


async def _dead(secured: SecuredServer, token: str) -> str:
    """Wait until a token no longer counts; why."""

    async def review() -> JsonObject:
        return await _review(secured, token)

    status = await until(review, lambda told: "error" in told)
    assert not status.get("authenticated")
    error: str = status["error"]
    return error


async def test_a_token_says_whose_it_is_for_whom_and_how_long(secured: SecuredServer) -> None:
    account = await _account(secured, "bot")
    path = secured.path("serviceaccounts", "bot", sub="token")
    made = await secured.create(path, {})
    assert (made["kind"], made["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
    assert made["spec"] == {
        "audiences": [AUDIENCE],
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    claims = _claims(made["status"]["token"])
    assert claims["sub"] == f"system:serviceaccount:{secured.namespace}:bot"
    assert claims["iss"] == AUDIENCE
    assert claims["aud"] == [AUDIENCE]
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["kubernetes.io"] == {
        "namespace": secured.namespace,
        "serviceaccount": {"name": "bot", "uid": account["metadata"]["uid"]},
    }
    found = await whoami(await secured.bearing(made["status"]["token"]))
    assert found == {
        "username": claims["sub"],
        "uid": account["metadata"]["uid"],
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{secured.namespace}",
            "system:authenticated",
        ],
        "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]},
    }


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (599, "may not specify a duration less than 10 minutes"),
        (-1, "may not specify a duration less than 10 minutes"),
        ((1 << 32) + 1, "may not specify a duration larger than 2^32 seconds"),
    ],
)
async def test_a_token_lives_neither_too_short_nor_too_long(
    secured: SecuredServer, seconds: int, text: str
) -> None:
    await _account(secured, "bot")
    path = secured.path("serviceaccounts", "bot", sub="token")
    refused = await secured.create(path, {"spec": {"expirationSeconds": seconds}}, code=422)
    assert message(refused) == (
        'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid '
        f"value: {seconds}: {text}"
    )


async def test_a_token_is_for_its_audience_only(secured: SecuredServer) -> None:
    await _account(secured, "bot")
    token = await _token(secured, "bot", audiences=["vault", "db"])
    told = await _review(secured, token, "db", "other")
    assert (told["authenticated"], told["audiences"]) == (True, ["db"])
    told = await _review(secured, token)
    assert told["error"] == (
        '[invalid bearer token, token audiences ["vault" "db"] is invalid for the target '
        f'audiences ["{AUDIENCE}"]]'
    )
    await (await secured.bearing(token)).get("/healthz", code=401)


async def test_a_token_dies_with_its_account_even_if_another_takes_the_name(
    secured: SecuredServer,
) -> None:
    bot = await _bot(secured, "bot")
    assert (await _review(secured, bot.token))["authenticated"]
    path = secured.path("serviceaccounts", "bot")
    old = (await secured.delete(path))["metadata"]["uid"]
    assert await _dead(secured, bot.token) == (
        '[invalid bearer token, serviceaccounts "bot" not found]'
    )
    new = (await _account(secured, "bot"))["metadata"]["uid"]
    assert await _dead(secured, bot.token) == (
        f"[invalid bearer token, service account UID ({new}) does not match claim ({old})]"
    )
    await bot.get("/healthz", code=401)


@pytest.mark.parametrize("kind", ["Pod", "Secret"])
async def test_a_token_dies_with_what_it_is_bound_to(secured: SecuredServer, kind: str) -> None:
    await _account(secured, "bot")
    plural = f"{kind.lower()}s"
    body = {"metadata": {"name": "a"}}
    if kind == "Pod":
        body = pod("a") | {"spec": pod("a")["spec"] | {"serviceAccountName": "bot"}}
    made = await secured.create(secured.path(plural), body)
    token = await _token(
        secured, "bot", boundObjectRef={"kind": kind, "apiVersion": "v1", "name": "a"}
    )
    assert _claims(token)["kubernetes.io"][kind.lower()] == {
        "name": "a",
        "uid": made["metadata"]["uid"],
    }
    extra = (await whoami(await secured.bearing(token)))["extra"]
    if kind == "Pod":
        assert extra["authentication.kubernetes.io/pod-name"] == ["a"]
        assert extra["authentication.kubernetes.io/pod-uid"] == [made["metadata"]["uid"]]
    await secured.delete(secured.path(plural, "a"), {"gracePeriodSeconds": 0})
    error = "[invalid bearer token, service account token has been invalidated]"
    assert await _dead(secured, token) == error


async def test_a_projected_token_outlives_its_hour_and_says_when_to_renew(
    secured: SecuredServer,
) -> None:
    await _account(secured, "bot")
    body = pod("a") | {"spec": pod("a")["spec"] | {"serviceAccountName": "bot"}}
    await secured.create(secured.path("pods"), body)
    ref = {"kind": "Pod", "apiVersion": "v1", "name": "a"}
    claims = _claims(await _token(secured, "bot", boundObjectRef=ref, expirationSeconds=3607))
    assert claims["exp"] - claims["iat"] == 365 * 24 * 3600
    assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607


@pytest.mark.parametrize(
    ("ref", "code", "text"),
    [
        ({"kind": "Pod", "name": "none"}, 404, 'pods "none" not found'),
        ({"kind": "Node", "name": "none"}, 404, 'nodes "none" not found'),
        ({"kind": "Foo", "name": "a"}, 400, "cannot bind token to object of type /v1, Kind=Foo"),
        ({"kind": "Secret"}, 400, "Name parameter required."),
        (
            {"kind": "Secret", "name": "s", "uid": "x"},
            409,
            'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference '
            "(x) does not match the UID in record. The object might have been deleted and then "
            "recreated",
        ),
        (
            {"kind": "Pod", "name": "other"},
            400,
            'cannot bind token for serviceaccount "bot" to pod running with different '
            "serviceaccount name.",
        ),
    ],
)
async def test_a_token_is_bound_to_what_there_is(
    secured: SecuredServer, ref: JsonObject, code: int, text: str
) -> None:
    for name in ("bot", "someone"):
        await _account(secured, name)
    await secured.create(secured.path("secrets"), {"metadata": {"name": "s"}})
    body = pod("other") | {"spec": pod("a")["spec"] | {"serviceAccountName": "someone"}}
    await secured.create(secured.path("pods"), body)
    path = secured.path("serviceaccounts", "bot", sub="token")
    spec = {"boundObjectRef": {"apiVersion": "v1", **ref}}
    assert message(await secured.create(path, {"spec": spec}, code=code)) == text


async def test_tokens_are_for_accounts_that_there_are(secured: SecuredServer) -> None:
    path = secured.path("serviceaccounts", "none", sub="token")
    refused = await secured.create(path, {}, code=404)
    assert message(refused) == 'serviceaccounts "none" not found'
    nowhere = secured.elsewhere("no-such-space", "serviceaccounts", "a", sub="token")
    refused = await secured.create(nowhere, {}, code=404)
    assert message(refused) == 'namespaces "no-such-space" not found'
    await _account(secured, "bot")
    path = secured.path("serviceaccounts", "bot", sub="token")
    refused = await secured.create(path, {"metadata": {"name": "other"}}, code=422)
    assert "must match the service account name if specified" in message(refused)
    await secured.get(path, code=405)


async def test_a_token_that_was_tampered_with_is_none(secured: SecuredServer) -> None:
    bot = await _bot(secured, "bot")
    said, _, signature = bot.token.rpartition(".")
    head, _, claims = said.partition(".")
    other = jwt.encode(jwt.decode(claims).replace(b":bot", b":boss"))
    for forged in (f"{head}.{other}.{signature}", f"{said}.{'A' * len(signature)}"):
        assert "authenticated" not in await _review(secured, forged)
        await (await secured.bearing(forged)).get("/healthz", code=401)
    none = jwt.encode(b'{"alg":"none"}')
    assert "authenticated" not in await _review(secured, f"{none}.{claims}.")


async def test_a_review_of_nobodys_token_says_so(secured: SecuredServer) -> None:
    assert await _review(secured, "nonsense") == {"user": {}, "error": "invalid bearer token"}
    refused = await secured.create(REVIEWS, {"spec": {}}, code=400)
    assert message(refused) == "token is required for TokenReview in authentication"


# Nobody, and wrong credentials


async def test_without_credentials_one_may_see_health_and_version_only(
    secured: SecuredServer,
) -> None:
    nobody = await secured.holding(AuthInfo())
    for path in ("/healthz", "/livez", "/readyz", "/version"):
        assert (await nobody.send("GET", path)).status == 200
    for path in ("/api", "/apis", "/openapi/v3", "/metrics", "/healthz/ping"):
        refused = await nobody.get(path, code=403)
        assert message(refused) == f'forbidden: User "system:anonymous" cannot get path "{path}"'
    await nobody.get("/api/v1/namespaces", code=403)


async def test_wrong_credentials_are_worse_than_none(secured: SecuredServer) -> None:
    stranger = await secured.bearing("nonsense")
    for path in ("/healthz", "/version", "/api/v1/namespaces", "/nowhere"):
        refused = await stranger.get(path, code=401)
        assert (refused["reason"], message(refused)) == ("Unauthorized", "Unauthorized")


@pytest.mark.parametrize("header", ["Basic c2VjcmV0", "Bearer", "Bearer  x", ""])
async def test_what_is_no_bearer_token_counts_as_nothing(
    secured: SecuredServer, header: str
) -> None:
    nobody = await secured.holding(AuthInfo())
    refused = await nobody.get("/api", code=403, headers={"authorization": header})
    assert "system:anonymous" in message(refused)


async def test_everybody_with_credentials_may_discover_the_server(secured: SecuredServer) -> None:
    bot = await _bot(secured, "bot")
    for path in ("/api", "/apis", "/api/v1", "/apis/apps/v1", "/version"):
        await bot.get(path)
    await bot.get(secured.path("pods"), code=403)


# Giving permissions to others

_WRITES_ROLES = rule(
    "get list create update patch", "roles rolebindings clusterroles clusterrolebindings", RBAC
)


async def _keeper(secured: SecuredServer, *rules: JsonObject) -> As:
    """Somebody who may write roles, and do what else is given."""
    keeper = secured.acting("keeper")
    await secured.grant_everywhere(keeper, _WRITES_ROLES, rule("get list", "pods"), *rules)
    return keeper


async def test_nobody_writes_a_role_that_allows_more_than_they_may(secured: SecuredServer) -> None:
    keeper = await _keeper(secured)
    roles = secured.rbac("roles")
    weak = {"metadata": {"name": "weak"}, "rules": [rule("get", "pods")]}
    await keeper.create(roles, weak)
    strong = rule("get list delete", "pods secrets")
    refused = await keeper.create(
        roles, {"metadata": {"name": "strong"}, "rules": [strong]}, code=403
    )
    assert message(refused) == (
        f'roles.{RBAC} "strong" is forbidden: user "{keeper.user}" '
        '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently '
        'held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list" "delete"]}'
    )
    assert refused["details"] == {"name": "strong", "group": RBAC, "kind": "roles"}
    await keeper.merge(f"{roles}/weak", {"rules": [strong]}, code=403)
    await keeper.put(f"{roles}/weak", {**weak, "rules": [strong]}, code=403)
    await keeper.merge(f"{roles}/weak", {"metadata": {"labels": {"a": "b"}}})


async def test_even_a_label_on_a_stronger_role_is_refused(secured: SecuredServer) -> None:
    keeper, roles = await _keeper(secured), secured.rbac("roles")
    await secured.create(roles, {"metadata": {"name": "s"}, "rules": [rule("get", "secrets")]})
    await keeper.merge(f"{roles}/s", {"metadata": {"labels": {"a": "b"}}}, code=403)
    await keeper.merge(f"{roles}/s", {"metadata": {"finalizers": ["quintant.dev/x"]}})
    await keeper.merge(f"{roles}/s", {"rules": []})
    await secured.merge(f"{roles}/s", {"metadata": {"finalizers": None}})


async def test_paths_cannot_be_given_away_either(secured: SecuredServer) -> None:
    keeper = await _keeper(secured)
    role = {
        "metadata": {"name": f"paths-{secured.namespace}"},
        "rules": [{"verbs": ["get"], "nonResourceURLs": ["/metrics"]}],
    }
    refused = await keeper.create(f"{ROLES}/clusterroles", role, code=403)
    assert message(refused).endswith('{NonResourceURLs:["/metrics"], Verbs:["get"]}')
    gathering = {
        "metadata": {"name": f"gathers-{secured.namespace}"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
    }
    refused = await keeper.create(f"{ROLES}/clusterroles", gathering, code=403)
    assert message(refused).endswith(
        "must have cluster-admin privileges to use the aggregationRule"
    )


async def test_the_verb_escalate_lifts_the_limit(secured: SecuredServer) -> None:
    keeper = await _keeper(secured)
    await secured.grant(keeper, rule("escalate", "roles", RBAC, resourceNames=["known"]))
    roles = secured.rbac("roles")
    await secured.create(roles, {"metadata": {"name": "known"}, "rules": []})
    await keeper.merge(f"{roles}/known", {"rules": [rule("get", "secrets")]})
    other = {"metadata": {"name": "other"}, "rules": [rule("get", "secrets")]}
    await keeper.create(roles, other, code=403)


async def test_nobody_binds_a_role_that_allows_more_than_they_may(secured: SecuredServer) -> None:
    keeper, roles = await _keeper(secured), secured.rbac("roles")
    await secured.create(roles, {"metadata": {"name": "weak"}, "rules": [rule("get", "pods")]})
    await secured.create(roles, {"metadata": {"name": "strong"}, "rules": [rule("get", "secrets")]})
    bindings = secured.rbac("rolebindings")
    await until(lambda: keeper.code("POST", bindings, _bound("weak")), lambda code: code == 201)

    async def refusal() -> JsonObject:
        reply = await keeper.send("POST", bindings, _bound("strong"))
        found: JsonObject = msgspec.json.decode(reply.body)
        return found

    refused = await until(refusal, lambda status: status.get("code") == 403)
    assert message(refused) == (
        f'rolebindings.{RBAC} "strong" is forbidden: user "{keeper.user}" '
        '(groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently '
        'held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
    )
    refused = await keeper.create(bindings, _bound("absent"), code=404)
    assert message(refused) == f'rolebindings.{RBAC} "absent" not found'
    everything = binding(secured.namespace, "ClusterRole", "cluster-admin", subject("x"))
    refused = await keeper.create(f"{ROLES}/clusterrolebindings", everything, code=403)
    assert message(refused).endswith(
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}'
    )


async def test_the_verb_bind_lifts_the_limit(secured: SecuredServer) -> None:
    keeper = await _keeper(secured)
    await secured.grant(keeper, rule("bind", "clusterroles", RBAC, resourceNames=["view"]))
    bindings = secured.rbac("rolebindings")
    await keeper.create(bindings, binding("v", "ClusterRole", "view", subject("x")))
    await keeper.create(bindings, binding("e", "ClusterRole", "edit", subject("x")), code=403)


def _bound(role: str) -> JsonObject:
    return binding(role, "Role", role, subject("x"))


async def test_what_a_binding_binds_stays(secured: SecuredServer) -> None:
    bindings = secured.rbac("rolebindings")
    made = await secured.create(bindings, _bound("a"))
    refused = await secured.merge(f"{bindings}/a", {"roleRef": {"name": "b"}}, code=422)
    assert message(refused) == (
        f'RoleBinding.{RBAC} "a" is invalid: roleRef: Invalid value: {{"APIGroup":"{RBAC}",'
        '"Kind":"Role","Name":"b"}: cannot change roleRef'
    )
    more = [*made["subjects"], subject("y")]
    assert (await secured.merge(f"{bindings}/a", {"subjects": more}))["subjects"] == more


@pytest.mark.parametrize(
    ("plural", "body", "complaints"),
    [
        (
            "roles",
            {"rules": [{"apiGroups": [""], "resources": ["pods"]}, {"verbs": ["get"]}]},
            [
                "rules[0].verbs: Required value: verbs must contain at least one value",
                "rules[1].apiGroups: Required value: resource rules must supply at least one api "
                "group",
                "rules[1].resources: Required value: resource rules must supply at least one "
                "resource",
            ],
        ),
        (
            "roles",
            {"rules": [{"verbs": ["get"], "nonResourceURLs": ["/x"]}]},
            [
                'rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to '
                "non-resource URLs"
            ],
        ),
        (
            "rolebindings",
            {"roleRef": {"kind": "Foo", "name": ""}, "subjects": [{"kind": "Foo", "name": "x"}]},
            [
                'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"',
                "roleRef.name: Required value",
                'subjects[0].kind: Unsupported value: "Foo": supported values: "ServiceAccount", '
                '"User", "Group"',
            ],
        ),
    ],
)
async def test_roles_and_bindings_must_make_sense(
    secured: SecuredServer, plural: str, body: JsonObject, complaints: list[str]
) -> None:
    refused = await secured.create(
        secured.rbac(plural), {"metadata": {"name": "a"}, **body}, code=422
    )
    listed = complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]"
    assert message(refused).endswith(f'"a" is invalid: {listed}')


# Client certificates


@pytest.fixture
def signer(secured: SecuredServer) -> Authority:
    """What signs certificates that the server believes."""
    if secured.authority is None:
        pytest.skip("this server believes no certificates of ours")
    return secured.authority


async def test_a_certificate_names_the_user_and_the_groups(
    secured: SecuredServer, signer: Authority
) -> None:
    ann = await secured.certified(signer.client("ann", ["crew", "deck"], term()))
    found = await whoami(ann)
    assert (found["username"], found["groups"]) == ("ann", ["crew", "deck", "system:authenticated"])
    (credential,) = found["extra"]["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("X509SHA256=")
    await ann.get("/api/v1/namespaces", code=403)
    root = await secured.certified(signer.client("root", ["system:masters"], term()))
    await root.get("/api/v1/namespaces")


async def test_a_certificate_comes_before_a_token(
    secured: SecuredServer, signer: Authority
) -> None:
    bot = await _bot(secured, "bot")
    pair = signer.client("ann", [], term())
    for token in (bot.token, "nonsense"):
        assert (await whoami(await secured.certified(pair, token)))["username"] == "ann"


@pytest.mark.parametrize("flaw", ["stranger", "expired", "server"])
async def test_a_bad_certificate_proves_nothing(
    secured: SecuredServer, signer: Authority, flaw: str
) -> None:
    """A server may refuse the connection, or answer 401; it must not believe it."""
    expired = Validity(term().since - timedelta(days=2), term().since - timedelta(minutes=30))
    pairs = {
        "stranger": lambda: Authority.make("x", term()).client("ann", ["system:masters"], term()),
        "expired": lambda: signer.client("ann", ["system:masters"], expired),
        "server": lambda: signer.serving(["ann"], term()),
    }
    bad = await secured.certified(pairs[flaw]())
    try:
        reply = await bad.send("GET", "/healthz")
    except TransportError:
        return
    assert reply.status == 401


# Cluster roles made of others


async def test_an_aggregated_role_follows_what_it_selects(secured: SecuredServer) -> None:
    roles, space = f"{ROLES}/clusterroles", secured.namespace
    label = {f"{space}.dev/part": "yes"}
    whole = {
        "metadata": {"name": f"whole-{space}"},
        "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]},
        "rules": [rule("delete", "nodes")],
    }
    await secured.create(roles, whole)
    pods, maps = rule("get", "pods"), rule("list", "configmaps")

    async def rules() -> list[JsonObject]:
        return (await secured.get(f"{roles}/whole-{space}"))["rules"] or []

    for name, part in (("b", pods), ("a", maps)):
        metadata = {"name": f"{name}-{space}", "labels": label}
        await secured.create(roles, {"metadata": metadata, "rules": [part]})
    assert await until(rules, lambda found: len(found) == 2) == [maps, pods]
    await secured.merge(f"{roles}/b-{space}", {"metadata": {"labels": {f"{space}.dev/part": None}}})
    assert await until(rules, lambda found: len(found) == 1) == [maps]
    await secured.delete(f"{roles}/a-{space}")
    assert await until(rules, lambda found: not found) == []


async def test_a_role_can_be_added_to_view(secured: SecuredServer) -> None:
    alice, space = secured.acting("alice"), secured.namespace
    metadata = {
        "name": f"see-{space}",
        "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"},
    }
    part = rule("get", "things", f"{space}.dev")
    await secured.create(f"{ROLES}/clusterroles", {"metadata": metadata, "rules": [part]})
    bound = binding("v", "ClusterRole", "view", subject(alice))
    await secured.create(secured.rbac("rolebindings"), bound)
    await secured.held(alice, part)
    await secured.delete(f"{ROLES}/clusterroles/see-{space}")
