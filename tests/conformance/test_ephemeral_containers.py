"""pods/ephemeralcontainers: containers are added to a pod for debugging it, and only ever added."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.target import Target, causes, owners
from conformance.test_pod_updates import made
from unit.cluster.api import APPLY, JsonObject

DEBUGGER: JsonObject = {"name": "debugger", "image": "tools:1", "stdin": True, "tty": True}
LIST = "spec.ephemeralContainers"


def ephemeral(*containers: JsonObject) -> JsonObject:
    return {"spec": {"ephemeralContainers": list(containers)}}


async def test_a_container_is_added_with_its_defaults(target: Target) -> None:
    path = await made(target)
    wanted = {**DEBUGGER, "targetContainerName": "main"}
    found = await target.strategic(f"{path}/ephemeralcontainers", ephemeral(wanted))
    assert found["metadata"]["generation"] == 2
    assert found["spec"]["ephemeralContainers"] == [
        {
            **wanted,
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent",
        }
    ]
    assert await target.get(f"{path}/ephemeralcontainers") == found
    assert await target.get(path) == found


async def test_nothing_else_is_changed_by_it(target: Target) -> None:
    path = await made(target)
    before = await target.get(path)
    changed = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
        "spec": {"activeDeadlineSeconds": 50, **ephemeral(DEBUGGER)["spec"]},
        "status": {"phase": "Running"},
    }
    found = await target.strategic(f"{path}/ephemeralcontainers", changed)
    metadata = {key: value for key, value in found["metadata"].items() if key != "managedFields"}
    assert metadata == {
        **{key: value for key, value in before["metadata"].items() if key != "managedFields"},
        "resourceVersion": metadata["resourceVersion"],
        "generation": 2,
    }
    del found["spec"]["ephemeralContainers"]
    assert (found["spec"], found["status"]) == (before["spec"], before["status"])


async def test_only_what_was_added_is_owned(target: Target) -> None:
    path = await made(target)
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"l": "m"}}}
    applied = {**document, **ephemeral({"name": "debugger", "image": "tools:1"})}
    query = {"fieldManager": "me", "force": "true"}
    at = f"{path}/ephemeralcontainers"
    found = await target.ask("PATCH", at, applied, 200, media=APPLY, **query)
    assert owners(found)["me Apply ephemeralcontainers"] == {
        # Labels are not written, and owned all the same: a slip of theirs.
        "f:metadata": {"f:labels": {"f:l": {}}},
        "f:spec": {
            "f:ephemeralContainers": {
                'k:{"name":"debugger"}': {".": {}, "f:image": {}, "f:name": {}}
            }
        },
    }


async def test_a_whole_pod_may_be_put(target: Target) -> None:
    path = await made(target)
    pod = await target.get(path)
    pod["spec"]["ephemeralContainers"] = [DEBUGGER]
    found = await target.ask("PUT", f"{path}/ephemeralcontainers", pod, 200)
    assert [each["name"] for each in found["spec"]["ephemeralContainers"]] == ["debugger"]
    refused = await target.ask("PUT", f"{path}/ephemeralcontainers", pod, 409)
    assert refused["reason"] == "Conflict"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"name": "main"}, [(f"{LIST}[0].name", "FieldValueDuplicate")]),
        ({"name": ""}, [(f"{LIST}[0].name", "FieldValueRequired")]),
        ({"name": "A"}, [(f"{LIST}[0].name", "FieldValueInvalid")]),
        ({"image": ""}, [(f"{LIST}[0].image", "FieldValueRequired")]),
        (
            {"targetContainerName": "zzz"},
            [(f"{LIST}[0].targetContainerName", "FieldValueNotFound")],
        ),
        ({"ports": [{"containerPort": 80}]}, [(f"{LIST}[0].ports", "FieldValueForbidden")]),
        (
            {"resources": {"limits": {"cpu": "1"}}},
            [(f"{LIST}[0].resources", "FieldValueForbidden")],
        ),
        (
            {"livenessProbe": {"tcpSocket": {"port": 80}}, "lifecycle": {"preStop": {"sleep": {}}}},
            [
                (f"{LIST}[0].livenessProbe", "FieldValueForbidden"),
                (f"{LIST}[0].lifecycle", "FieldValueForbidden"),
            ],
        ),
        (
            {"volumeMounts": [{"name": "none", "mountPath": "/a", "subPath": "b"}]},
            [
                (f"{LIST}[0].volumeMounts[0].name", "FieldValueNotFound"),
                (f"{LIST}[0].volumeMounts[0].subPath", "FieldValueForbidden"),
            ],
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
async def test_what_a_debugger_may_not_be(
    target: Target, more: JsonObject, expected: list[tuple[str, str]]
) -> None:
    path = f"{await made(target)}/ephemeralcontainers"
    refused = await target.merge(path, ephemeral({**DEBUGGER, **more}), code=422)
    assert causes(refused) == expected
    if (each := expected[-1])[1] == "FieldValueForbidden":
        text = f"{each[0]}: Forbidden: cannot be set for an Ephemeral Container"
        assert text in refused["message"]


async def test_what_was_added_stays(target: Target) -> None:
    path = f"{await made(target)}/ephemeralcontainers"
    await target.strategic(path, ephemeral(DEBUGGER))
    for change, text in (
        (ephemeral(), 'existing ephemeral containers "debugger" may not be removed'),
        (
            ephemeral({**DEBUGGER, "image": "tools:2"}),
            'existing ephemeral containers "debugger" may not be changed',
        ),
    ):
        refused = await target.merge(path, change, code=422)
        assert causes(refused) == [(LIST, "FieldValueForbidden")]
        assert text in refused["message"]
    more = await target.strategic(path, ephemeral({**DEBUGGER, "name": "second"}))
    assert {each["name"] for each in more["spec"]["ephemeralContainers"]} == {"debugger", "second"}


async def test_a_debugger_is_added_through_its_own_path_alone(target: Target) -> None:
    path = await made(target)
    refused = await target.merge(path, ephemeral(DEBUGGER), code=422)
    assert causes(refused) == [("spec", "FieldValueForbidden")]
    pod = await target.get(path)
    body: Any = {
        "metadata": {"name": "b"},
        "spec": {"containers": pod["spec"]["containers"], **ephemeral(DEBUGGER)["spec"]},
    }
    refused = await target.create(target.path("pods"), body, code=422)
    assert causes(refused) == [(LIST, "FieldValueForbidden")]
    job = {"metadata": {"name": "j"}, "spec": {"template": {"spec": body["spec"]}}}
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"  # type: ignore[index]
    refused = await target.create(target.path("jobs", api="batch/v1"), job, code=422)
    field = f"spec.template.{LIST}"
    assert causes(refused) == [(field, "FieldValueForbidden")]


async def test_debuggers_are_neither_created_nor_deleted_by_themselves(target: Target) -> None:
    path = f"{await made(target)}/ephemeralcontainers"
    for method in ("POST", "DELETE"):
        await target.ask(method, path, {}, 405)
    await target.merge(target.path("pods", "none", sub="ephemeralcontainers"), {}, code=404)
