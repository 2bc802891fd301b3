"""What a server says about itself, and the shape of what it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conformance.secured_server import SecuredServer
from conformance.target import Target, decoded
from quintant.client.config.user import AuthInfo
from quintant.version import KUBERNETES

SEMVER = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
PROBES = ("healthz", "livez", "readyz")


async def test_the_version_is_made_of_numbers(target: Target) -> None:
    version = await target.get("/version")
    assert version["major"].isdecimal()
    assert version["minor"].isdecimal()
    assert SEMVER.fullmatch(version["gitVersion"])
    assert version["gitVersion"] == KUBERNETES
    names = ("emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor")
    assert all(version[name].isdecimal() for name in names)
    await target.ask("POST", "/version", {}, 405)


@pytest.mark.parametrize("probe", PROBES)
async def test_a_server_says_that_it_is_well(target: Target, probe: str) -> None:
    reply = await target.send("GET", f"/{probe}")
    assert (reply.status, reply.body) == (200, b"ok")
    assert reply.headers["content-type"] == "text/plain; charset=utf-8"
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("probe", PROBES)
async def test_checks_are_listed_and_can_be_asked_for_one_by_one(
    target: Target, probe: str
) -> None:
    *lines, last = await _lines(target, probe)
    assert last == f"{probe} check passed"
    names = [line.removeprefix("[+]").removesuffix(" ok") for line in lines]
    assert {"ping", "log", "etcd"} <= set(names)
    assert all(line == f"[+]{name} ok" for line, name in zip(lines, names, strict=True))
    for name in names:
        assert (await target.send("GET", f"/{probe}/{name}")).body == b"ok", name
    reply = await target.send("GET", f"/{probe}/no-such-check")
    assert (reply.status, reply.body) == (404, b"404 page not found\n")


async def test_checks_can_be_left_out(target: Target) -> None:
    assert (await target.send("GET", "/readyz", exclude="etcd")).body == b"ok"
    assert "[+]etcd excluded: ok" in await _lines(target, "readyz", exclude="etcd")
    warning = 'warn: some health checks cannot be excluded: no matches for "nope"'
    assert warning in await _lines(target, "readyz", exclude="nope")


async def _lines(target: Target, probe: str, **query: Any) -> list[str]:
    reply = await target.send("GET", f"/{probe}", verbose="1", **query)
    assert reply.status == 200
    return reply.body.decode().splitlines()


async def test_every_group_prefers_a_version_it_lists(target: Target) -> None:
    groups = (await target.get("/apis"))["groups"]
    assert {"apps", "authentication.k8s.io", "authorization.k8s.io"} <= {
        group["name"] for group in groups
    }
    for group in groups:
        assert group["preferredVersion"] in group["versions"]
        alone = await target.get(f"/apis/{group['name']}")
        assert alone["preferredVersion"] == group["preferredVersion"]
        for version in group["versions"]:
            found = await target.get(f"/apis/{version['groupVersion']}")
            assert found["groupVersion"] == version["groupVersion"]
            assert found["resources"]


async def test_questions_can_only_be_created(target: Target) -> None:
    for path in ("/apis/authentication.k8s.io/v1", "/apis/authorization.k8s.io/v1"):
        for resource in (await target.get(path))["resources"]:
            assert resource["verbs"] == ["create"]
    core = {each["name"]: each for each in (await target.get("/api/v1"))["resources"]}
    token = core["serviceaccounts/token"]
    assert (token["kind"], token["group"], token["version"], token["verbs"]) == (
        "TokenRequest",
        "authentication.k8s.io",
        "v1",
        ["create"],
    )


async def test_refusals_are_not_kept_by_anybody(secured: SecuredServer) -> None:
    for requests in (await secured.holding(AuthInfo()), await secured.bearing("nonsense")):
        for path in ("/api/v1/namespaces", "/apis", "/nowhere"):
            reply = await requests.send("GET", path)
            assert reply.status in (401, 403)
            assert reply.headers["cache-control"] == "no-cache, private"


async def test_who_is_not_known_is_told_so(secured: SecuredServer) -> None:
    stranger = await secured.bearing("nonsense")
    reply = await stranger.send("GET", "/api/v1/namespaces")
    assert (reply.status, decoded(reply.body)) == (
        401,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "Unauthorized",
            "reason": "Unauthorized",
            "code": 401,
        },
    )
    assert "x-content-type-options" not in reply.headers


async def test_who_may_not_is_told_what_and_where(secured: SecuredServer) -> None:
    alice = secured.acting("alice")
    reply = await alice.send("GET", secured.path("deployments", "d", "apps/v1"))
    assert (reply.status, decoded(reply.body)) == (
        403,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f'deployments.apps "d" is forbidden: User "{alice.user}" cannot get '
            f'resource "deployments" in API group "apps" in the namespace "{secured.namespace}"',
            "reason": "Forbidden",
            "details": {"name": "d", "group": "apps", "kind": "deployments"},
            "code": 403,
        },
    )
    assert reply.headers["x-content-type-options"] == "nosniff"
    plain = await alice.get("/nowhere", code=403)
    assert (plain["details"], plain["message"]) == (
        {},
        f'forbidden: User "{alice.user}" cannot get path "/nowhere"',
    )


async def test_what_is_not_there_is_told_by_who_looked_for_it(secured: SecuredServer) -> None:
    absent = await secured.get(secured.path("configmaps", "a"), code=404)
    assert (absent["message"], absent["details"]) == (
        'configmaps "a" not found',
        {"name": "a", "kind": "configmaps"},
    )
    unknown = await secured.get(secured.path("things"), code=404)
    assert (unknown["message"], unknown["details"]) == (
        "the server could not find the requested resource",
        {},
    )
    for path in ("/nowhere", "/apis/nowhere.example.com"):
        reply = await secured.send("GET", path)
        assert (reply.status, reply.body) == (404, b"404 page not found\n")
        assert reply.headers["content-type"] == "text/plain; charset=utf-8"
