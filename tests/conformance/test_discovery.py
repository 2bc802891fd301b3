"""What a server says about itself: groups, resources, schemas, and in which forms."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.target import Target, decoded, until
from quintant.core import yaml
from unit.cluster.api import APPLY, JSON_PATCH, MERGE, JsonObject, config_map

V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
OLDER = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
MEDIA = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
ROUTER = "406: Not Acceptable\n\nAvailable representations: "
PATCHES = "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {"size": {"type": "integer", "description": "How large."}},
        }
    },
}


async def groups(target: Target, path: str = "/apis") -> dict[str, JsonObject]:
    """The groups of aggregated discovery, by name."""
    found = await target.get(path, headers={"accept": V2})
    return {item["metadata"].get("name", ""): item for item in found["items"]}


def resources(group: JsonObject) -> dict[str, JsonObject]:
    return {each["resource"]: each for each in group["versions"][0]["resources"]}


@pytest.mark.parametrize("path", ["/api", "/apis"])
async def test_everything_can_be_discovered_at_once(target: Target, path: str) -> None:
    reply = await target.send("GET", path, headers={"accept": f"{V2},{OLDER},application/json"})
    assert reply.status == 200
    assert reply.headers["content-type"] == V2
    assert reply.headers["cache-control"] == "public"
    assert reply.headers["vary"] == "Accept"
    found = decoded(reply.body)
    assert (found["kind"], found["apiVersion"]) == (
        "APIGroupDiscoveryList",
        "apidiscovery.k8s.io/v2",
    )
    assert all(v["freshness"] == "Current" for item in found["items"] for v in item["versions"])


async def test_resources_are_discovered_with_names_verbs_and_subresources(target: Target) -> None:
    core = resources((await groups(target, "/api"))[""])
    maps = core["configmaps"]
    assert maps["responseKind"] == {"group": "", "version": "", "kind": "ConfigMap"}
    assert (maps["scope"], maps["singularResource"]) == ("Namespaced", "configmap")
    assert maps["shortNames"] == ["cm"]
    every = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    assert maps["verbs"] == every
    assert core["namespaces"]["verbs"] == [verb for verb in every if verb != "deletecollection"]
    scale = resources((await groups(target))["apps"])["deployments"]["subresources"][0]
    assert scale == {
        "subresource": "scale",
        "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
        "verbs": ["get", "patch", "update"],
    }


async def test_a_client_without_aggregation_is_answered_as_ever(target: Target) -> None:
    assert (await target.get("/apis"))["kind"] == "APIGroupList"
    assert (await target.get("/api"))["kind"] == "APIVersions"
    old = await target.get("/apis", headers={"accept": f"{OLDER},application/json"})
    assert old["kind"] == "APIGroupList"
    refused = await target.get("/apis", code=406, headers={"accept": OLDER})
    assert refused["message"] == f"only the following media types are accepted: {MEDIA}"


async def test_a_new_definition_is_discovered_and_a_deleted_one_is_not(target: Target) -> None:
    foos = await target.define(subresources={"status": {}})
    listed = await until_discovered(target, foos.group)
    assert resources(listed)["foos"] == {
        "resource": "foos",
        "responseKind": {"group": foos.group, "version": "v1", "kind": "Foo"},
        "scope": "Namespaced",
        "singularResource": "foo",
        "verbs": [
            "delete",
            "deletecollection",
            "get",
            "list",
            "patch",
            "create",
            "update",
            "watch",
        ],
        "subresources": [
            {
                "subresource": "status",
                "responseKind": {"group": foos.group, "version": "v1", "kind": "Foo"},
                "verbs": ["get", "patch", "update"],
            }
        ],
    }
    legacy = await target.get(f"/apis/{foos.api}")
    assert [each["name"] for each in legacy["resources"]] == ["foos", "foos/status"]
    await target.delete(foos.definition)
    await until_discovered(target, foos.group, there=False)


async def until_discovered(target: Target, group: str, *, there: bool = True) -> JsonObject:
    found = await until(lambda: groups(target), lambda found: (group in found) is there)
    assert (group in found) is there
    return found.get(group, {})


async def test_what_did_not_change_is_not_sent_again(target: Target) -> None:
    first = await target.send("GET", "/apis", headers={"accept": V2})
    tag = first.headers["etag"]
    again = await target.send("GET", "/apis", headers={"accept": V2, "if-none-match": tag})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == tag
    assert "content-type" not in again.headers
    foos = await target.define()
    await until_discovered(target, foos.group)
    changed = await target.send("GET", "/apis", headers={"accept": V2, "if-none-match": tag})
    assert changed.status == 200
    assert changed.headers["etag"] != tag


async def test_groups_come_in_order_of_importance(target: Target) -> None:
    wanted = ["apps", "events.k8s.io", "batch", "policy", "rbac.authorization.k8s.io"]
    wanted += ["storage.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io"]
    wanted += ["scheduling.k8s.io", "coordination.k8s.io", "discovery.k8s.io"]
    assert [name for name in await groups(target) if name in wanted] == wanted


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("application/yaml", "application/yaml"),
        ("application/json;q=0.1,application/yaml", "application/yaml"),
        ("application/yaml;q=0.2,application/json;q=0.1", "application/yaml"),
        ("*/*", "application/json"),
        ("application/json;foo=bar", "application/json"),
        ("text/html,application/json;q=0.5", "application/json"),
    ],
)
async def test_an_answer_has_the_form_liked_best(target: Target, accept: str, media: str) -> None:
    await target.create(target.path("configmaps"), config_map("a"))
    path = target.path("configmaps", "a")
    reply = await target.send("GET", path, headers={"accept": accept})
    assert (reply.status, reply.headers["content-type"]) == (200, media)
    assert read(reply.body)["metadata"]["name"] == "a"
    missing = await target.send("GET", f"{path}-not", headers={"accept": accept})
    assert (missing.status, missing.headers["content-type"]) == (404, media)
    assert read(missing.body)["reason"] == "NotFound"


def read(body: bytes) -> Any:
    return yaml.load(body)


@pytest.mark.parametrize(
    ("accept", "message"),
    [
        ("text/html", f"{ROUTER}{MEDIA}, {STREAMS}"),
        ("application/*", f"{ROUTER}{MEDIA}, {STREAMS}"),
        (
            "application/json;as=Nope;v=v1;g=meta.k8s.io",
            f"only the following media types are accepted: {MEDIA}",
        ),
        (
            "application/json;as=Table;v=v9;g=meta.k8s.io",
            f"only the following media types are accepted: {MEDIA}",
        ),
    ],
)
async def test_a_form_there_is_not_is_refused(target: Target, accept: str, message: str) -> None:
    listed = target.path("configmaps")
    refused = await target.get(listed, code=406, headers={"accept": accept})
    assert (refused["reason"], refused["message"]) == ("NotAcceptable", message)


async def test_custom_resources_are_not_refused_by_a_router(target: Target) -> None:
    foos = await target.define()
    refused = await target.get(foos.path(), code=406, headers={"accept": "text/html"})
    assert refused["message"] == f"only the following media types are accepted: {MEDIA}"
    one = await target.get("/api/v1/namespaces/x", code=406, headers={"accept": "text/html"})
    assert one["message"] == f"{ROUTER}{MEDIA}"
    assert (await target.get(foos.path(), headers={"accept": "application/*"}))["items"] == []
    liked = "application/vnd.kubernetes.protobuf,application/json"
    assert (await target.get(foos.path(), headers={"accept": liked}))["items"] == []


async def test_a_watch_cannot_be_yaml(target: Target) -> None:
    path = target.path("configmaps")
    reply = await target.send("GET", path, headers={"accept": "application/yaml"}, watch="1")
    assert reply.status == 406
    assert read(reply.body)["message"] == (
        f"only the following media types are accepted: {STREAMS}"
    )


async def test_bodies_may_be_yaml(target: Target) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n"
    made = await target.create(target.path("configmaps"), text, media="application/yaml")
    assert made["data"] == {"k": "v"}
    foos = await target.define()
    custom = f"apiVersion: {foos.api}\nkind: Foo\nmetadata: {{name: a}}\nspec: {{size: 1}}\n"
    made = await target.create(foos.path(), custom.encode(), media="application/yaml")
    assert made["spec"] == {"size": 1}


async def test_unknown_bodies_are_refused(target: Target) -> None:
    unknown = "the body of the request was in an unknown format - accepted media types include: "
    path = target.path("configmaps")
    refused = await target.create(path, b"x", code=415, media="text/plain")
    assert refused["message"] == f"{unknown}{MEDIA}"
    await target.create(path, config_map("a"))
    one = f"{path}/a"
    refused = await target.ask("PATCH", one, b"x", 415, media="text/plain")
    assert refused["message"] == "415: Unsupported Media Type"
    foos = await target.define()
    await target.create(foos.path(), foos.object("a"))
    refused = await target.strategic(foos.path("a"), {}, code=415)
    assert refused["message"] == f"{unknown}{PATCHES}"


@pytest.mark.parametrize(("pretty", "indented"), [("true", True), ("0", False), ("x", False)])
async def test_people_are_shown_indented_answers(
    target: Target, pretty: str, indented: bool
) -> None:
    reply = await target.send("GET", "/api/v1/namespaces/default", pretty=pretty)
    assert (b'\n  "kind"' in reply.body) is indented
    assert decoded(reply.body)["kind"] == "Namespace"


@pytest.mark.parametrize(
    "path", ["/api/v1/namespaces", "/api/v1/namespaces/nope", "/apis", "/nope"]
)
async def test_nothing_that_may_change_is_kept(target: Target, path: str) -> None:
    reply = await target.send("GET", path)
    assert reply.headers["cache-control"] == "no-cache, private"
    assert reply.headers["audit-id"]


@pytest.mark.parametrize(
    ("timeout", "code"), [("bogus", 400), ("5", 400), ("0s", 200), ("900s", 200), ("1m5s", 200)]
)
async def test_a_time_limit_has_to_be_a_duration(target: Target, timeout: str, code: int) -> None:
    why = {"bogus": "invalid duration", "5": "missing unit in duration"}
    path = "/api/v1/namespaces/default"
    answer = await target.get(path, code=code, timeout=timeout)
    if code == 400:
        text = f'time: {why[timeout]} "{timeout}"'
        said = f"invalid timeout specified in the request URL - {text}"
        assert answer["message"] == said


@pytest.mark.parametrize(("more", "code"), [(9_999, 400), (10_000, 200)])
async def test_of_too_many_parameters_none_is_read(target: Target, more: int, code: int) -> None:
    others = {f"a{at}": "b" for at in range(more)}
    await target.get("/api/v1/namespaces", code=code, limit="x", **others)


LARGE = b"x" * (3 * 1024 * 1024)


@pytest.mark.parametrize(
    ("method", "media"),
    [
        ("POST", "application/json"),
        ("PUT", "application/json"),
        ("PATCH", MERGE),
        ("PATCH", JSON_PATCH),
        ("PATCH", APPLY),
        ("DELETE", "application/json"),
    ],
    ids=lambda value: value.rpartition("/")[2],
)
async def test_a_body_has_a_limit(target: Target, method: str, media: str) -> None:
    foos = await target.define()
    await target.create(foos.path(), foos.object("a"))
    await target.create(target.path("configmaps"), config_map("a"))
    body = b'[{"op":"add","path":"/a","value":"%b"}]' if media == JSON_PATCH else b'{"a":"%b"}'
    query = {"fieldManager": "me"} if media == APPLY else {}
    for path in (target.path("configmaps", "a"), foos.path("a")):
        where = path.rpartition("/")[0] if method == "POST" else path
        refused = await target.ask(method, where, body % LARGE, 413, media=media, **query)
        assert refused["message"] == "Request entity too large: limit is 3145728"
        await target.get(path)


async def test_schemas_are_published_by_group_and_version(target: Target) -> None:
    index = (await target.get("/openapi/v3"))["paths"]
    assert {"api/v1", "apis/apps/v1"} <= index.keys()
    address = index["apis/apps/v1"]["serverRelativeURL"]
    path, _, digest = address.partition("?hash=")
    reply = await target.send("GET", path, hash=digest)
    assert reply.headers["cache-control"] == "public, immutable"
    assert reply.headers["etag"] == f'"{digest}"'
    again = await target.send("GET", path, headers={"if-none-match": reply.headers["etag"]})
    assert again.status == 304
    document = decoded(reply.body)
    schema = document["components"]["schemas"]["io.k8s.api.apps.v1.Deployment"]
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert schema["x-kubernetes-group-version-kind"] == [kind]
    operations = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]
    patch = operations["patch"]
    assert patch["x-kubernetes-group-version-kind"] == kind
    assert {"fieldManager", "fieldValidation", "force", "dryRun"} == {
        parameter["name"] for parameter in patch["parameters"]
    }


async def test_lists_say_how_they_merge(target: Target) -> None:
    document = await target.get("/openapi/v3/api/v1")
    spec = document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]
    assert merging(spec["containers"]) == ("map", ["name"], "merge", "name")
    assert merging(spec["tolerations"]) == ("atomic", None, None, None)


def merging(schema: JsonObject) -> tuple[Any, ...]:
    names = ("list-type", "list-map-keys", "patch-strategy", "patch-merge-key")
    return tuple(schema.get(f"x-kubernetes-{name}") for name in names)


async def test_schemas_of_definitions_are_published(target: Target) -> None:
    foos = await target.define(schema=SCHEMA)
    name = f"apis/{foos.api}"
    await until(lambda: target.get("/openapi/v3"), lambda index: name in index["paths"])
    document = await target.get(f"/openapi/v3/{name}")
    wanted = [{"group": foos.group, "kind": "Foo", "version": "v1"}]
    schema = next(
        each
        for each in document["components"]["schemas"].values()
        if each.get("x-kubernetes-group-version-kind") == wanted
    )
    assert schema["properties"]["spec"] == SCHEMA["properties"]["spec"]
    assert schema["properties"].keys() == {"apiVersion", "kind", "metadata", "spec"}


async def test_who_uses_what_is_deprecated_is_warned(target: Target) -> None:
    reply = await target.send("GET", target.path("endpoints"))
    text = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    assert reply.headers["warning"] == f'299 - "{text}"'
    foos = await target.define(deprecated=True)
    reply = await target.send("GET", foos.path())
    assert reply.headers["warning"] == f'299 - "{foos.api} Foo is deprecated"'
