"""What is asked for is copied, once, with no more rights than it takes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import Any

import msgspec
import pytest

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.server.server import ApiServer
from quintant.preview.cluster_copy import ClusterCopy, stored_objects
from quintant.preview.live_reader import LiveReader, LiveRefusal

MAPS = "/api/v1/namespaces/shop/configmaps"


class Answers:
    """A cluster that gives prepared answers; of several for a path, one after the other."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = {
            path: iter(answer) if isinstance(answer, list) else repeat(answer)
            for path, answer in answers.items()
        }
        self.asked: list[str] = []

    async def request(self, call: ApiRequest) -> ApiResponse:
        assert call.method == "GET"
        self.asked.append(call.path)
        answer = next(self.answers.get(call.path, repeat(ApiResponse(403))))
        if isinstance(answer, ApiResponse):
            return answer
        return ApiResponse(200, msgspec.json.encode(answer))

    def stream(self, call: ApiRequest) -> Any:
        raise AssertionError("nothing is watched")

    async def close(self) -> None: ...


def config_map(name: Any, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", "uid": "1", **metadata}}


def copied(answers: Mapping[str, Any]) -> tuple[ClusterCopy, Answers, Kind]:
    live = Answers(answers)
    copy = ClusterCopy(LiveReader(live), ApiServer())
    kind = copy.server.catalog.find("", "v1", "configmaps")
    assert kind is not None
    return copy, live, kind


def now(copy: ClusterCopy) -> dict[str, Any]:
    kind = copy.server.catalog.find("", "v1", "configmaps")
    assert kind is not None
    return {obj["metadata"]["name"]: obj for obj in stored_objects(copy.server, kind)}


def names(copy: ClusterCopy) -> list[str]:
    return sorted(now(copy))


async def test_a_collection_is_read_once_page_by_page() -> None:
    first = {"metadata": {"continue": "more"}, "items": [config_map("a")]}
    copy, live, kind = copied({MAPS: [first, {"metadata": {}, "items": [config_map("b")]}]})
    await copy.provide_collection(kind, "shop")
    await copy.provide_collection(kind, "shop")
    assert names(copy) == ["a", "b"]
    assert live.asked == [MAPS, MAPS]


async def test_a_single_object_takes_no_right_to_list() -> None:
    copy, live, kind = copied({f"{MAPS}/a": config_map("a"), f"{MAPS}/gone": ApiResponse(404)})
    for name in ("a", "a", "gone", "gone"):
        await copy.provide_object(kind, "shop", name)
    assert names(copy) == ["a"]
    assert live.asked == [f"{MAPS}/a", f"{MAPS}/gone"]


async def test_what_was_copied_by_itself_is_not_overwritten_by_its_collection() -> None:
    listed = {"items": [config_map("a", labels={"from": "list"}), config_map("b")]}
    copy, _, kind = copied({f"{MAPS}/a": config_map("a"), MAPS: listed})
    await copy.provide_object(kind, "shop", "a")
    await copy.provide_collection(kind, "shop")
    assert names(copy) == ["a", "b"]
    assert all("labels" not in obj["metadata"] for obj in now(copy).values())


async def test_what_a_role_forbids_is_refused_as_the_cluster_does() -> None:
    copy, _, kind = copied({})
    with pytest.raises(LiveRefusal) as refused:
        await copy.provide_collection(kind, "shop")
    assert refused.value.forbidden


async def test_namespaces_that_may_not_be_read_are_taken_for_there() -> None:
    copy, _, _ = copied({})
    await copy.provide_namespace("shop")
    kind = copy.server.catalog.find("", "v1", "namespaces")
    assert kind is not None
    assert "shop" in copy.server.store.table(kind.table).entries


@pytest.mark.parametrize(
    "item",
    [5, None, {}, {"metadata": None}, {"metadata": {"name": ""}}, {"metadata": {"name": 5}},
     {"metadata": {"name": "a", "namespace": 5}}, config_map("a", labels=5)],
)  # fmt: skip
async def test_an_object_that_is_none_is_left_out_and_named(item: Any) -> None:
    copy, _, kind = copied({MAPS: {"items": [item, config_map("b")]}})
    await copy.provide_collection(kind, "shop")
    assert names(copy) in (["b"], ["a", "b"])
    assert "b" in names(copy)


async def test_an_object_that_cannot_be_read_is_left_out_and_the_others_are_not() -> None:
    wrong = b'{"items": [{"metadata": {"name": "\xff"}}, {"metadata": {"name": "b"}}]}'
    copy, _, kind = copied({MAPS: ApiResponse(200, wrong)})
    await copy.provide_collection(kind, "shop")
    assert names(copy) == ["b"]
    assert copy.findings == ["an object of configmaps has no name"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"items": {}}',
        b'{"metadata": {"continue": 5}}',
        b"[]",
        b"{",
        b"\xff",
        b'{"a":' * 2000,
    ],
)
async def test_an_answer_that_is_no_object_is_refused(body: bytes) -> None:
    copy, _, kind = copied({MAPS: ApiResponse(200, body)})
    with pytest.raises(LiveRefusal, match="GET"):
        await copy.provide_collection(kind, "shop")


async def test_a_list_without_end_is_refused() -> None:
    endless = {"metadata": {"continue": "again"}, "items": []}
    copy, _, kind = copied({MAPS: endless})
    with pytest.raises(LiveRefusal):
        await copy.provide_collection(kind, "shop")


@pytest.mark.parametrize(
    ("given", "kept"),
    [("812345", "812345"), ("", None), ("abc", None), ("9" * 30, None), ("\u00b2", None)],
)
async def test_objects_keep_the_versions_that_the_cluster_gave_them(
    given: str, kept: str | None
) -> None:
    listing = {"metadata": {}, "items": [config_map("a", resourceVersion=given)]}
    copy, _, kind = copied({MAPS: listing})
    await copy.provide_collection(kind, "shop")
    (found,) = now(copy).values()
    version = found["metadata"]["resourceVersion"]
    assert version == kept if kept is not None else version.isdecimal()
    body = msgspec.json.encode({"data": {"x": "y"}})
    headers = {"content-type": "application/merge-patch+json"}
    reply = await copy.server.request(ApiRequest("PATCH", f"{MAPS}/a", {}, headers, body))
    after = msgspec.json.decode(reply.body)["metadata"]["resourceVersion"]
    assert int(after) > int(version)
