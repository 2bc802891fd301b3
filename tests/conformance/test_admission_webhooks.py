"""Admission webhooks: when they are asked, what they are told, and what their word does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from conformance.hooks import (
    Answer,
    Hooks,
    allow,
    deny,
    hooked,
    patch,
    rule,
)
from conformance.target import OPEN, Plural, Target, decoded, owners, until
from quintant.client.transport import ApiResponse
from quintant.http.response import Response as Said
from unit.cluster.api import CRDS, JSON, MERGE, JsonObject

CREATE = rule("configmaps", "CREATE")
ALL = rule("configmaps")


@pytest_asyncio.fixture
async def hooks(target: Target) -> AsyncIterator[Hooks]:
    async with hooked(target) as found:
        yield found


def config_map(name: str, data: JsonObject | None = None, **metadata: Any) -> JsonObject:
    return {"metadata": {"name": name, **metadata}, "data": data or {"x": "y"}}


async def create(target: Target, name: str = "a", **more: Any) -> ApiResponse:
    return await target.send("POST", target.path("configmaps"), config_map(name), **more)


def message(reply: ApiResponse) -> str:
    found: str = decoded(reply.body)["message"]
    return found


async def test_changes_are_denied_one_by_one(target: Target, hooks: Hooks) -> None:
    path = target.path("configmaps", "a")
    await create(target)
    hook = hooks.hook(deny("no", 403, reason="Forbidden"))
    await hooks.validating(hook, ALL)
    said = f'admission webhook "{hook.name}" denied the request: no'
    for method, body, media in (
        ("POST", config_map("b"), JSON),
        ("PUT", config_map("a"), JSON),
        ("PATCH", {"data": {"a": "b"}}, MERGE),
        ("DELETE", None, JSON),
    ):
        where = target.path("configmaps") if method == "POST" else path
        reply = await target.send(method, where, body, media=media)
        assert (reply.status, message(reply)) == (403, said)
    assert hook.told() == [
        *("CREATE configmaps", "UPDATE configmaps", "UPDATE configmaps", "DELETE configmaps")
    ]
    assert await target.names(target.path("configmaps"), fieldSelector="metadata.name=a") == ["a"]


DENIALS: list[tuple[Answer, int, str, str]] = [
    (deny(), 400, "", " without explanation"),
    (deny("no"), 400, "", ": no"),
    (deny("no", 200), 400, "", ": no"),
    (deny("no", 422, reason="Invalid"), 422, "Invalid", ": no"),
    (deny(reason="JustSo"), 400, "JustSo", ": JustSo"),
    (deny(code=418), 418, "", " without explanation"),
]


@pytest.mark.parametrize(("answer", "code", "reason", "text"), DENIALS)
async def test_denials_are_told_in_the_words_of_the_webhook(
    target: Target, hooks: Hooks, answer: Answer, code: int, reason: str, text: str
) -> None:
    hook = hooks.hook(answer)
    await hooks.validating(hook, CREATE)
    told = await target.create(target.path("configmaps"), config_map("a"), code=code)
    assert told["message"] == f'admission webhook "{hook.name}" denied the request{text}'
    assert (told.get("reason", ""), told["code"], told["status"]) == (reason, code, "Failure")


async def test_details_of_a_denial_reach_the_client(target: Target, hooks: Hooks) -> None:
    causes = [{"reason": "FieldValueInvalid", "message": "must be b", "field": "data.a"}]
    details = {"name": "a", "group": "g", "kind": "k", "causes": causes}
    await hooks.mutating(hooks.hook(deny("no", 422, details=details)), CREATE)
    told = await target.create(target.path("configmaps"), config_map("a"), code=422)
    assert told["details"] == details


async def test_warnings_are_told_with_both_verdicts(target: Target, hooks: Hooks) -> None:
    warnings = ["mind the gap", 'say "please"', "two\nlines"]
    mutating = hooks.hook(lambda request: {"allowed": True, "warnings": warnings})
    validating = hooks.hook(lambda request: {"allowed": False, "warnings": ["so it is"]})
    await hooks.mutating(mutating, CREATE)
    allowed = await create(target)
    assert allowed.headers["warning"] == '299 - "mind the gap", 299 - "say \\"please\\""'
    await hooks.validating(validating, CREATE)
    denied = await create(target, "b")
    assert denied.headers["warning"].endswith('299 - "so it is"')


async def test_long_warnings_are_cut(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook(lambda request: {"allowed": True, "warnings": ["short", "x" * 5000]})
    await hooks.validating(hook, CREATE)
    assert (await create(target)).headers["warning"] == f'299 - "short", 299 - "{"x" * 256}"'


async def test_the_review_tells_everything_about_the_change(target: Target, hooks: Hooks) -> None:
    mutating, validating = hooks.hook(), hooks.hook()
    await hooks.mutating(mutating, ALL)
    await hooks.validating(validating, ALL)
    made = await target.create(
        target.path("configmaps"), config_map("a", {"x": "1"}), fieldManager="me", dryRun="All"
    )
    review, query = mutating.asked[0].review, mutating.asked[0].query
    assert (review["apiVersion"], review["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert query == {"timeout": "10s"}
    asked = dict(review["request"])
    shown = asked.pop("object")
    assert asked.pop("uid")
    user = asked.pop("userInfo")
    assert {"system:authenticated", "system:unauthenticated"} & set(user["groups"])
    gvk, gvr = {"version": "v1", "kind": "ConfigMap"}, {"version": "v1", "resource": "configmaps"}
    assert asked == {
        "kind": {"group": "", **gvk},
        "resource": {"group": "", **gvr},
        "requestKind": {"group": "", **gvk},
        "requestResource": {"group": "", **gvr},
        "name": "a",
        "namespace": target.namespace,
        "operation": "CREATE",
        "oldObject": None,
        "dryRun": True,
        "options": {
            "kind": "CreateOptions",
            "apiVersion": "meta.k8s.io/v1",
            "dryRun": ["All"],
            "fieldManager": "me",
        },
    }
    assert (shown["apiVersion"], shown["kind"], shown["data"]) == ("v1", "ConfigMap", {"x": "1"})
    assert "uid" not in shown["metadata"]
    assert validating.last["object"]["metadata"]["uid"] == made["metadata"]["uid"]


async def test_generated_names_are_told_to_validating_webhooks(
    target: Target, hooks: Hooks
) -> None:
    mutating, validating = hooks.hook(), hooks.hook()
    await hooks.mutating(mutating, CREATE)
    await hooks.validating(validating, CREATE)
    body = {"metadata": {"generateName": "g-"}}
    made = await target.create(target.path("configmaps"), body)
    assert "name" not in mutating.last
    assert validating.last["name"] == made["metadata"]["name"]


async def test_an_update_is_told_with_what_it_replaces(target: Target, hooks: Hooks) -> None:
    await create(target)
    mutating, validating = hooks.hook(), hooks.hook()
    await hooks.mutating(mutating, ALL)
    await hooks.validating(validating, ALL)
    path = target.path("configmaps", "a")
    await target.put(path, config_map("a", {"x": "2"}))
    await target.merge(path, {"data": {"x": "3"}}, fieldValidation="Strict")
    put, merged = mutating.requests
    assert "uid" not in put["object"]["metadata"]
    assert put["oldObject"]["metadata"]["uid"]
    assert put["options"] == {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}
    assert merged["options"]["fieldValidation"] == "Strict"
    assert (merged["oldObject"]["data"], merged["object"]["data"]) == ({"x": "2"}, {"x": "3"})
    for request in validating.requests:
        versions = [request[name]["metadata"] for name in ("object", "oldObject")]
        assert versions[0]["uid"] == versions[1]["uid"]


async def test_a_deletion_is_told_with_what_goes(target: Target, hooks: Hooks) -> None:
    await create(target)
    await create(target, "b")
    mutating, validating = hooks.hook(), hooks.hook()
    await hooks.mutating(mutating, ALL)
    await hooks.validating(validating, ALL)
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
    await target.delete(target.path("configmaps", "a"), options)
    for request in (mutating.last, validating.last):
        assert (request["object"], request["oldObject"]["metadata"]["name"]) == (None, "a")
        assert request["name"] == "a"
        assert request["options"]["gracePeriodSeconds"] == 0
    await target.delete(target.path("configmaps"), labelSelector="!x")
    assert "name" not in validating.last
    assert "b" in [each["oldObject"]["metadata"]["name"] for each in validating.requests]


async def test_applying_reaches_webhooks_as_creation_and_update(
    target: Target, hooks: Hooks
) -> None:
    hook = hooks.hook()
    await hooks.validating(hook, ALL)
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    path = target.path("configmaps", "a")
    await target.apply(path, {**config, "data": {"x": "1"}}, "me", code=201)
    await target.apply(path, {**config, "data": {"x": "2"}}, "me", force="true")
    created, updated = hook.requests
    assert (created["operation"], created["options"]["kind"]) == ("CREATE", "CreateOptions")
    assert (updated["operation"], updated["options"]["kind"]) == ("UPDATE", "UpdateOptions")
    assert "force" not in updated["options"]


async def test_mutations_follow_names_and_places_of_configurations(
    target: Target, hooks: Hooks
) -> None:
    def step(word: str) -> Answer:
        def add(request: JsonObject) -> JsonObject:
            seen = request["object"]["data"]["order"]
            operation = {"op": "replace", "path": "/data/order", "value": f"{seen}{word}"}
            return patch(operation)(request)  # type: ignore[no-any-return]

        return add

    one, two, three = (hooks.hook(step(word)) for word in ("1", "2", "3"))
    await hooks.install("mutating", hooks.entry(three, CREATE), name="b")
    await hooks.install("mutating", hooks.entry(one, CREATE), hooks.entry(two, CREATE), name="a")
    made = await target.create(target.path("configmaps"), config_map("a", {"order": "0"}))
    assert made["data"] == {"order": "0123"}


async def test_nobody_owns_what_webhooks_change(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook(patch({"op": "add", "path": "/data/added", "value": "1"}))
    await hooks.mutating(hook, ALL)
    made = await target.create(
        target.path("configmaps"), config_map("a", {"x": "1"}), fieldManager="me"
    )
    assert made["data"] == {"x": "1", "added": "1"}
    assert owners(made) == {"me Update": {"f:data": {".": {}, "f:x": {}}}}


async def test_managers_that_a_webhook_spoils_are_restored(target: Target, hooks: Hooks) -> None:
    spoilt = [{"manager": "x"}]
    hook = hooks.hook(patch({"op": "add", "path": "/metadata/managedFields", "value": spoilt}))
    await hooks.mutating(hook, CREATE)
    body = config_map("a", {"x": "1"})
    reply = await target.send("POST", target.path("configmaps"), body, fieldManager="me")
    assert "managedFields was in an invalid state after admission" in reply.headers["warning"]
    found = await target.get(target.path("configmaps", "a"))
    assert owners(found) == {"me Update": {"f:data": {".": {}, "f:x": {}}}}


async def test_what_webhooks_make_is_validated(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook(patch({"op": "add", "path": "/metadata/labels", "value": {"a b": "c"}}))
    validating = hooks.hook()
    await hooks.mutating(hook, CREATE)
    await hooks.validating(validating, CREATE)
    told = await target.create(target.path("configmaps"), config_map("a"), code=422)
    assert told["details"]["causes"][0]["field"] == "metadata.labels"
    assert not validating.asked


PATCHES: list[tuple[JsonObject, int, str]] = [
    (
        {"op": "remove", "path": "/none/x"},
        500,
        'remove operation does not apply: doc is missing path: "/none/x": missing value',
    ),
    (
        {"op": "test", "path": "/metadata/name", "value": "zz"},
        500,
        "testing value /metadata/name failed: test failed",
    ),
    ({"op": "zap", "path": "/data"}, 500, "Unexpected kind: zap"),
    (
        {"op": "add", "path": "/data", "value": {"a": 3}},
        500,
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
    ),
    (
        {"op": "replace", "path": "/metadata/namespace", "value": "default"},
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
]


@pytest.mark.parametrize(("operation", "code", "text"), PATCHES)
async def test_patches_that_make_no_sense_are_refused(
    target: Target, hooks: Hooks, operation: JsonObject, code: int, text: str
) -> None:
    await hooks.mutating(hooks.hook(patch(operation)), CREATE, failurePolicy="Ignore")
    reply = await create(target)
    assert (reply.status, message(reply).removeprefix("Internal error occurred: ")) == (code, text)


async def test_custom_resources_are_pruned_and_completed_after_mutation(
    target: Target, hooks: Hooks
) -> None:
    properties = {"size": {"type": "integer", "default": 3}, "name": {"type": "string"}}
    spec = {"type": "object", "properties": properties}
    foos = await target.define(schema={"type": "object", "properties": {"spec": spec}})
    hook = hooks.hook(patch({"op": "add", "path": "/spec", "value": {"name": "n", "odd": 1}}))
    await hooks.mutating(hook, rule("foos", "CREATE", foos.group))
    made = await created(target, foos, foos.object("a"))
    assert made["spec"] == {"name": "n", "size": 3}


async def created(target: Target, foos: Plural, obj: JsonObject) -> JsonObject:
    """A new custom resource; a real server may not know its definition yet."""

    async def attempt() -> ApiResponse:
        return await target.send("POST", foos.path(), obj)

    reply = await until(attempt, lambda reply: reply.status == 201)
    assert reply.status == 201, reply.body
    return await target.get(foos.path(obj["metadata"]["name"]))


async def test_a_mutation_counts_for_the_generation(target: Target, hooks: Hooks) -> None:
    foos = await target.define()
    await created(target, foos, foos.object("a", spec={"x": 1}))
    hook = hooks.hook(patch({"op": "add", "path": "/spec/y", "value": 1}))
    await hooks.mutating(hook, rule("foos", "UPDATE", foos.group))
    path = foos.path("a")
    first = await target.merge(path, {"metadata": {"labels": {"a": "b"}}})
    assert first["metadata"]["generation"] == 2
    second = await target.merge(path, {"metadata": {"labels": {"a": "c"}}})
    assert second["metadata"]["generation"] == 2


async def test_webhooks_are_asked_again_when_others_changed_the_object(
    target: Target, hooks: Hooks
) -> None:
    once, needy = hooks.hook(), hooks.hook()
    changer = hooks.hook(patch({"op": "add", "path": "/data/added", "value": "1"}))
    await hooks.install(
        "mutating",
        hooks.entry(once, CREATE),
        hooks.entry(needy, CREATE, reinvocationPolicy="IfNeeded"),
        hooks.entry(changer, CREATE, reinvocationPolicy="IfNeeded"),
    )
    await create(target)
    assert (len(once.asked), len(needy.asked), len(changer.asked)) == (1, 2, 1)
    assert needy.last["object"]["data"] == {"x": "y", "added": "1"}


async def test_a_webhook_that_changes_nothing_asks_nobody_again(
    target: Target, hooks: Hooks
) -> None:
    needy = hooks.hook()
    await hooks.install(
        "mutating",
        hooks.entry(needy, CREATE, reinvocationPolicy="IfNeeded"),
        hooks.entry(hooks.hook(patch()), CREATE, reinvocationPolicy="IfNeeded"),
    )
    await create(target)
    assert len(needy.asked) == 1


async def test_time_outs_count_as_the_failure_policy_says(target: Target, hooks: Hooks) -> None:
    slow = hooks.hook(delay=3.0)
    await hooks.validating(slow, CREATE, timeoutSeconds=1, failurePolicy="Ignore")
    assert (await create(target)).status == 201
    await hooks.validating(slow, CREATE, timeoutSeconds=1)
    reply = await create(target, "b")
    url = f"https://{hooks.address}/{slow.name}?timeout=1s"
    text = f'failed to call webhook: Post "{url}": context deadline exceeded'
    why = f'Internal error occurred: failed calling webhook "{slow.name}": {text}'
    assert (reply.status, message(reply)) == (500, why)


async def test_webhooks_that_cannot_be_reached_count_as_the_failure_policy_says(
    target: Target, hooks: Hooks
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    hook = hooks.hook()
    client = {**hooks.client(hook), "url": f"https://{at}/x"}
    await hooks.validating(hook, CREATE, clientConfig=client, failurePolicy="Ignore")
    assert (await create(target)).status == 201
    await hooks.validating(hook, CREATE, clientConfig=client)
    reply = await create(target, "b")
    why = f'Post "https://{at}/x?timeout=10s": dial tcp {at}: connect: connection refused'
    assert (reply.status, message(reply).partition("failed to call webhook: ")[2]) == (500, why)


PATHS = {
    "": "/",
    "/": "/",
    "//x": "/x",
    "/x/": "/x",
    "/a//b/./../c": "/a/c",
    "/../x": "/x",
    "/a%20b%2fc!": "/a%20b/c%21",
    "/a:b@c,d;e=f&g+h$i~": "/a:b@c,d;e=f&g+h$i~",
}
"""The paths of URLs, and what is asked for: a test kit puts a slash before one that has it."""


@pytest.mark.parametrize("path", PATHS)
async def test_the_path_of_a_webhook_is_cleaned(target: Target, hooks: Hooks, path: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = f"127.0.0.1:{free.getsockname()[1]}"
    hook = hooks.hook()
    client = {**hooks.client(hook), "url": f"https://{at}{path}"}
    await hooks.validating(hook, CREATE, clientConfig=client)
    reply = await create(target)
    why = f'Post "https://{at}{PATHS[path]}?timeout=10s": dial tcp {at}: connect: '
    assert (reply.status, message(reply).partition("failed to call webhook: ")[2]) == (
        500,
        f"{why}connection refused",
    )


HALF = "unexpected error when reading response body. Please retry. Original error: unexpected EOF"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", 'Post "{url}": EOF'),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", HALF),
        (b"hello\r\n\r\n", "HTTP/1.x transport connection broken: malformed HTTP response"),
    ],
    ids=["nothing", "half", "no http"],
)
async def test_webhooks_that_hang_up_are_told_of(
    target: Target, hooks: Hooks, raw: bytes, why: str
) -> None:
    hook = hooks.hook(raw=raw)
    await hooks.validating(hook, CREATE)
    reply = await create(target)
    url = f"https://{hooks.address}/{hook.name}?timeout=10s"
    assert reply.status == 500
    assert why.format(url=url) in message(reply)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "EOF"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "http: server gave HTTP response to HTTPS client"),
    ],
    ids=["nothing", "http"],
)
async def test_webhooks_that_do_not_speak_tls_are_told_of(
    target: Target, hooks: Hooks, said: bytes, why: str
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(said)
        writer.close()
        await writer.wait_closed()

    hook, server = hooks.hook(), await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/x"
        client = {**hooks.client(hook), "url": url}
        await hooks.validating(hook, CREATE, clientConfig=client)
        reply = await create(target)
    assert message(reply).endswith(f'failed to call webhook: Post "{url}?timeout=10s": {why}')


async def test_webhooks_are_believed_only_with_a_certificate(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook()
    await hooks.validating(hook, CREATE, clientConfig={"url": hooks.client(hook)["url"]})
    reply = await create(target)
    assert reply.status == 500
    assert message(reply).endswith("x509: certificate signed by unknown authority")
    assert not hook.asked


async def test_a_service_that_is_not_there_is_named(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook()
    service = {"name": "nope", "namespace": target.namespace, "path": "/x"}
    await hooks.validating(hook, CREATE, clientConfig={"service": service})
    reply = await create(target)
    url = f"https://nope.{target.namespace}.svc:443/x?timeout=10s"
    assert message(reply).endswith(f'Post "{url}": service "nope" not found')


V1 = b'"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"'
ANSWERS: list[tuple[Answer, str]] = [
    (lambda request: b"", "0-length response with status code: 200"),
    (lambda request: b"{" + V1 + b"}", "webhook response was absent"),
    (lambda request: {"uid": "x", "allowed": True}, 'got "x"'),
    (
        lambda request: b'{"response":{"uid":"%b","allowed":true}}' % request["uid"].encode(),
        "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
    ),
    (
        lambda request: b'{"apiVersion":"v1","kind":"ConfigMap"}',
        'no kind "ConfigMap" is registered for version "v1"',
    ),
    (lambda request: Said(500, {}, b"boom"), 'an error on the server ("boom")'),
    (
        lambda request: Said(404, {}, b"boom"),
        "the server could not find the requested resource",
    ),
    (patch({"op": "add", "path": "/a", "value": 1}), "may not return response.patch"),
]


@pytest.mark.parametrize(("answer", "text"), ANSWERS)
async def test_what_is_no_answer_counts_as_the_failure_policy_says(
    target: Target, hooks: Hooks, answer: Answer, text: str
) -> None:
    hook = hooks.hook(answer)
    await hooks.validating(hook, CREATE, failurePolicy="Ignore")
    assert (await create(target)).status == 201
    await hooks.validating(hook, CREATE)
    reply = await create(target, "b")
    assert reply.status == 500
    assert f'failed calling webhook "{hook.name}": ' in message(reply)
    assert text in message(reply)


async def test_owners_that_webhooks_repeat_collapse(target: Target, hooks: Hooks) -> None:
    owner = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}
    add = {"op": "add", "path": "/metadata/ownerReferences", "value": [owner, owner]}
    await hooks.mutating(hooks.hook(patch(add)), CREATE)
    reply = await create(target)
    assert (reply.status, decoded(reply.body)["metadata"]["ownerReferences"]) == (201, [owner])
    told = ".metadata.ownerReferences contains duplicate entries after mutating admission happens"
    assert told in reply.headers["warning"]


MUTATIONS: list[tuple[JsonObject, str]] = [
    ({"patch": "W10="}, "webhook returned response.patch but not response.patchType"),
    ({"patchType": "JSONPatch"}, "webhook returned response.patchType but not response.patch"),
    (
        {"patch": "W3sib3AiOiJ0ZXN0In1d", "patchType": "Merge"},
        'unsupported patch type "Merge"',
    ),
]


@pytest.mark.parametrize(("response", "text"), MUTATIONS)
async def test_a_patch_needs_its_type(
    target: Target, hooks: Hooks, response: JsonObject, text: str
) -> None:
    hook = hooks.hook(lambda request: {"allowed": True, **response})
    await hooks.mutating(hook, CREATE)
    reply = await create(target)
    assert reply.status == 500
    assert message(reply).endswith(text)


async def test_older_reviews_are_spoken(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook(patch({"op": "replace", "path": "/data/x", "value": "1"}))
    await hooks.mutating(hook, CREATE, admissionReviewVersions=["v9", "v1beta1", "v1"])
    made = await target.create(target.path("configmaps"), config_map("a"))
    assert hook.asked[0].review["apiVersion"] == "admission.k8s.io/v1beta1"
    assert made["data"] == {"x": "1"}


async def test_configurations_themselves_are_never_reviewed(target: Target, hooks: Hooks) -> None:
    everything = {**rule("*/*", "*", "*"), "scope": "*"}
    selected = {"matchLabels": {"check": target.namespace}}
    hook = hooks.hook(deny("never"))
    await hooks.install(
        "validating",
        hooks.entry(hook, everything, objectSelector=selected, namespaceSelector={}),
    )
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
    name = f"free.{target.namespace}"
    await target.create(path, {"metadata": {"name": name, "labels": selected["matchLabels"]}})
    await target.merge(f"{path}/{name}", {"metadata": {"labels": {"x": "y"}}})
    await target.delete(f"{path}/{name}")
    assert not hook.asked


async def test_a_configuration_that_is_gone_counts_no_more(target: Target, hooks: Hooks) -> None:
    path = await hooks.validating(hooks.hook(deny("no")), CREATE)
    assert (await create(target)).status == 400
    await target.delete(path)

    async def attempt() -> ApiResponse:
        return await create(target, dryRun="All")

    assert (await until(attempt, lambda reply: reply.status == 201)).status == 201


async def test_a_changed_configuration_counts(target: Target, hooks: Hooks) -> None:
    path = await hooks.validating(hooks.hook(deny("no")), CREATE)
    operation = {"op": "replace", "path": "/webhooks/0/rules/0/operations", "value": ["DELETE"]}
    await target.patch(path, operation)

    async def attempt() -> ApiResponse:
        return await create(target, dryRun="All")

    assert (await until(attempt, lambda reply: reply.status == 201)).status == 201


async def test_selectors_look_at_labels_old_and_new(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook()
    await hooks.validating(hook, ALL, objectSelector={"matchLabels": {"x": "y"}})
    await target.create(target.path("configmaps"), config_map("a"))
    path = target.path("configmaps", "a")
    await target.merge(path, {"metadata": {"labels": {"x": "y"}}})
    await target.merge(path, {"metadata": {"labels": {"x": "z"}}})
    await target.merge(path, {"metadata": {"labels": {"x": None}}})
    await target.delete(path)
    assert hook.told() == ["UPDATE configmaps", "UPDATE configmaps"]


async def test_other_namespaces_are_not_selected(target: Target, hooks: Hooks) -> None:
    hook = hooks.hook()
    elsewhere = {"matchExpressions": [{"key": "none", "operator": "Exists"}]}
    await hooks.install("validating", hooks.entry(hook, CREATE, namespaceSelector=elsewhere))
    await create(target)
    assert not hook.asked


RULES: list[tuple[JsonObject, bool]] = [
    (rule("*", "CREATE", "*"), True),
    (rule("*/*", "CREATE", "*"), True),
    (rule("configmaps/*", "CREATE"), True),
    (rule("configmaps/status", "CREATE"), False),
    (rule("secrets", "CREATE"), False),
    (rule("configmaps", "UPDATE DELETE"), False),
    (rule("configmaps", "CREATE", "apps"), False),
    (rule("configmaps", "CREATE", "", "v2"), False),
    ({**CREATE, "scope": "Namespaced"}, True),
    ({**CREATE, "scope": "Cluster"}, False),
]


@pytest.mark.parametrize(("asked", "expected"), RULES)
async def test_rules_say_what_a_webhook_is_for(
    target: Target, hooks: Hooks, asked: JsonObject, expected: bool
) -> None:
    hook = hooks.hook()
    await hooks.validating(hook, asked)
    assert (await create(target)).status == 201
    assert bool(hook.asked) is expected


async def test_other_versions_are_converted_unless_told_otherwise(
    target: Target, hooks: Hooks
) -> None:
    group = f"{target.namespace}.example.com"
    versions = [
        {
            "name": each,
            "served": True,
            "storage": each == "v1",
            "schema": {"openAPIV3Schema": OPEN},
        }
        for each in ("v1", "v2")
    ]
    names = {"plural": "foos", "singular": "foo", "kind": "Foo", "listKind": "FooList"}
    await target.create(
        CRDS,
        {
            "metadata": {"name": f"foos.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions},
        },
    )
    foos = Plural(target, group)
    await foos.served()
    equivalent, exact = (
        hooks.hook(patch({"op": "add", "path": "/seen", "value": "v1"})) for _ in range(2)
    )
    only = rule("foos", "CREATE", group, "v1")
    await hooks.mutating(equivalent, only)
    await hooks.mutating(exact, only, matchPolicy="Exact")
    path = target.path("foos", api=f"{group}/v2")
    body = {"apiVersion": f"{group}/v2", "kind": "Foo", "metadata": {"name": "a"}}

    async def attempt() -> ApiResponse:
        return await target.send("POST", path, body)

    reply = await until(attempt, lambda reply: reply.status == 201)
    assert reply.status == 201, reply.body
    assert not exact.asked
    asked = equivalent.last
    assert (asked["kind"]["version"], asked["requestKind"]["version"]) == ("v1", "v2")
    assert asked["object"]["apiVersion"] == f"{group}/v1"
    found = await target.get(target.path("foos", "a", f"{group}/v2"))
    assert (found["apiVersion"], found["seen"]) == (f"{group}/v2", "v1")


CONDITIONS: list[tuple[str, bool]] = [
    ('object.metadata.name == "a"', True),
    ('object.metadata.name.startsWith("b")', False),
    ('request.operation == "CREATE" && request.resource.resource == "configmaps"', True),
    ("request.namespace == object.metadata.namespace", True),
    ("oldObject == null", True),
    ("has(object.data)", False),
    ('"system:masters" in request.userInfo.groups && request.name == "z"', False),
    ('authorizer.group("").resource("pods").namespace("x").check("get").allowed()', True),
    ('authorizer.requestResource.check("create").allowed()', True),
    ('authorizer.path("/healthz").check("get").allowed()', True),
    ("request.dryRun", False),
]


@pytest.mark.parametrize(("expression", "expected"), CONDITIONS)
async def test_conditions_say_whether_a_webhook_is_asked(
    target: Target, hooks: Hooks, expression: str, expected: bool
) -> None:
    hook = hooks.hook()
    conditions = [{"name": "a", "expression": expression}]
    await hooks.validating(hook, CREATE, matchConditions=conditions)
    body = {"metadata": {"name": "a"}}
    await target.create(target.path("configmaps"), body)
    assert bool(hook.asked) is expected


async def test_conditions_that_fail_count_as_the_failure_policy_says(
    target: Target, hooks: Hooks
) -> None:
    hook = hooks.hook()
    failing = {"name": "a", "expression": 'object.metadata.foo == "x"'}
    false = {"name": "b", "expression": "false"}
    await hooks.validating(hook, CREATE, matchConditions=[failing], failurePolicy="Ignore")
    await hooks.validating(hook, CREATE, matchConditions=[failing, false])
    assert (await create(target)).status == 201
    await hooks.validating(hook, CREATE, matchConditions=[failing])
    told = await target.create(target.path("configmaps"), config_map("b"), code=403)
    assert told["reason"] == "Forbidden"
    expression = failing["expression"]
    assert told["message"] == (
        f"configmaps \"b\" is forbidden: expression '{expression}' resulted in error: "
        "no such key: foo"
    )
    assert not hook.asked


async def test_a_patch_that_is_overtaken_is_made_again(target: Target, hooks: Hooks) -> None:
    path = target.path("configmaps", "a")
    await create(target)
    overtaken = Overtaken()
    hook = hooks.hook(overtaken)
    await hooks.validating(hook, rule("configmaps", "UPDATE"))
    async with asyncio.TaskGroup() as group:
        slow = group.create_task(target.merge(path, {"data": {"slow": "1"}}))
        await overtaken.waiting.wait()
        await target.merge(path, {"data": {"fast": "1"}})
        overtaken.going.set()
    assert slow.result()["data"] == {"x": "y", "slow": "1", "fast": "1"}
    assert len(hook.asked) == 3
    assert hook.last["oldObject"]["data"] == {"x": "y", "fast": "1"}


async def test_a_put_that_is_overtaken_is_refused(target: Target, hooks: Hooks) -> None:
    path = target.path("configmaps", "a")
    await create(target)
    found = await target.get(path)
    overtaken = Overtaken()
    await hooks.validating(hooks.hook(overtaken), rule("configmaps", "UPDATE"))
    async with asyncio.TaskGroup() as group:
        slow = group.create_task(target.send("PUT", path, {**found, "data": {"slow": "1"}}))
        await overtaken.waiting.wait()
        await target.merge(path, {"data": {"fast": "1"}})
        overtaken.going.set()
    assert slow.result().status == 409
    assert (await target.get(path))["data"] == {"x": "y", "fast": "1"}


class Overtaken:
    """The answer to the first review waits until somebody else has been answered."""

    def __init__(self) -> None:
        self.waiting, self.going = asyncio.Event(), asyncio.Event()

    async def __call__(self, request: JsonObject) -> JsonObject:
        if not self.waiting.is_set():
            self.waiting.set()
            await self.going.wait()
        return allow(request)
