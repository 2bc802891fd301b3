"""pods/log as far as the API server answers it: which container, which options, and refusals."""

from __future__ import annotations

import pytest

from conformance.target import Target
from unit.cluster.api import JsonObject

ACCOUNT = {"metadata": {"name": "default"}}


def pod(name: str, *containers: str, init: tuple[str, ...] = (), node: str = "") -> JsonObject:
    spec: JsonObject = {
        "containers": [{"name": each, "image": "image"} for each in containers],
        "initContainers": [{"name": each, "image": "image"} for each in init],
        **({"nodeName": node} if node else {}),
    }
    return {"metadata": {"name": name}, "spec": spec}


async def filled(target: Target) -> None:
    # A real server wants the account of every pod to be there; its controllers are not.
    await target.send("POST", target.path("serviceaccounts"), ACCOUNT)
    for each in (
        pod("one", "main", init=("first",)),
        pod("two", "a", "b", init=("x",)),
        pod("lost", "main", node="nowhere"),
    ):
        await target.create(target.path("pods"), each)


async def test_a_pod_without_a_node_has_no_content(target: Target) -> None:
    await filled(target)
    for query in ({}, {"container": "first"}, {"follow": "maybe"}, {"tailLines": "0"}):
        reply = await target.send("GET", target.path("pods", "one", sub="log"), **query)  # type: ignore[arg-type]
        assert (reply.status, reply.body) == (204, b"")
        assert "content-type" not in reply.headers


@pytest.mark.parametrize(
    ("name", "query", "code", "message"),
    [
        (
            "two",
            {},
            400,
            "a container name must be specified for pod two, choose one of: [x a b]",
        ),
        ("one", {"container": "zzz"}, 400, "container zzz is not valid for pod one"),
        ("none", {}, 404, 'pods "none" not found'),
        ("lost", {}, 404, 'pods "nowhere" not found'),
        ("one", {"tailLines": "x"}, 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("one", {"tailLines": ""}, 400, 'strconv.ParseInt: parsing "": invalid syntax'),
        (
            "one",
            {"sinceTime": "x"},
            400,
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
    ],
)
async def test_who_or_what_is_meant_must_be_clear(
    target: Target, name: str, query: dict[str, str], code: int, message: str
) -> None:
    await filled(target)
    refusal = await target.ask("GET", target.path("pods", name, sub="log"), None, code, **query)
    assert refusal["message"] == message


@pytest.mark.parametrize(
    ("query", "complaints"),
    [
        ({"tailLines": "-1"}, ["tailLines: Invalid value: -1: must be greater than or equal to 0"]),
        ({"limitBytes": "0"}, ["limitBytes: Invalid value: 0: must be greater than 0"]),
        ({"sinceSeconds": "0"}, ["sinceSeconds: Invalid value: 0: must be greater than 0"]),
        ({"stream": "Stdout"}, ["stream: Forbidden: may not be specified"]),
        (
            {"sinceSeconds": "5", "sinceTime": "2020-01-01T00:00:00Z"},
            ["[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"],
        ),
        (
            {"tailLines": "-1", "limitBytes": "-1"},
            [
                "tailLines: Invalid value: -1: must be greater than or equal to 0",
                "limitBytes: Invalid value: -1: must be greater than 0",
            ],
        ),
    ],
)
async def test_options_that_make_no_sense_are_invalid(
    target: Target, query: dict[str, str], complaints: list[str]
) -> None:
    await filled(target)
    path = target.path("pods", "one", sub="log")
    refusal = await target.ask("GET", path, None, 422, **query)
    listed = complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]"
    assert refusal["message"] == f'PodLogOptions "one" is invalid: {listed}'
    assert refusal["details"]["kind"] == "PodLogOptions"


async def test_logs_cannot_be_written(target: Target) -> None:
    await filled(target)
    path = target.path("pods", "one", sub="log")
    await target.ask("POST", path, {}, 405)
