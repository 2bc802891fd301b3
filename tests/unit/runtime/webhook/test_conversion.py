from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.api.admission import ConversionRequest, ConversionResponse
from quintant.core.resource import Resource
from quintant.runtime.webhook import Plain, Spoke
from quintant.runtime.webhook.conversion import TURN_OBJECTS, KindConversion, convert_all
from quintant.runtime.webhook.failure import WebhookFailure


def alpha_up(obj: Plain) -> Plain:
    obj["spec"]["hosts"] = [obj["spec"].pop("host")]
    return obj


def alpha_down(obj: Plain) -> Plain:
    obj["spec"]["host"] = obj["spec"].pop("hosts")[0]
    return obj


def beta_up(obj: Plain) -> Plain:
    spec = {name: value for name, value in obj["spec"].items() if name != "addresses"}
    return {"spec": {**spec, "hosts": obj["spec"]["addresses"]}}


def beta_down(obj: Plain) -> Plain:
    obj["spec"]["addresses"] = obj["spec"].pop("hosts")
    obj["metadata"] = {"name": "other", "labels": {"was": "v1"}, "annotations": {}}
    return obj


GATES = KindConversion(
    Resource("gates.example.com", "v1", "Gate", "gates"),
    {"v1alpha1": Spoke(alpha_up, alpha_down), "v1beta1": Spoke(beta_up, beta_down)},
)
ALL = {("gates.example.com", "Gate"): GATES}


def gate(version: str, **spec: Any) -> Plain:
    return {
        "apiVersion": f"gates.example.com/{version}",
        "kind": "Gate",
        "metadata": {"name": "north", "uid": "u", "annotations": {"a": "b"}, "unheard": 1},
        "spec": {**spec, "unknown": [1.0, 2**70, None]},
        "status": {"phase": "Open"},
    }


async def convert(objects: list[Any], desired: str) -> ConversionResponse:
    raws = tuple(msgspec.Raw(msgspec.json.encode(each)) for each in objects)
    request = ConversionRequest(
        uid="u", desired_api_version=f"gates.example.com/{desired}", objects=raws
    )
    return await convert_all(ALL, request)


async def converted(objects: list[Any], desired: str) -> list[Any]:
    response = await convert(objects, desired)
    return [msgspec.json.decode(raw) for raw in response.converted_objects or ()]


async def test_a_spoke_is_converted_to_the_hub_and_keeps_what_nobody_mentions() -> None:
    assert await converted([gate("v1alpha1", host="a")], "v1") == [gate("v1", hosts=["a"])]


async def test_the_hub_is_converted_to_a_spoke() -> None:
    assert await converted([gate("v1", hosts=["a"])], "v1alpha1") == [gate("v1alpha1", host="a")]


async def test_two_spokes_meet_at_the_hub() -> None:
    (after,) = await converted([gate("v1alpha1", host="a")], "v1beta1")
    assert after["apiVersion"] == "gates.example.com/v1beta1"
    assert after["spec"]["addresses"] == ["a"]


async def test_only_labels_and_annotations_of_the_metadata_change() -> None:
    (after,) = await converted([gate("v1", hosts=["a"])], "v1beta1")
    assert after["metadata"] == {
        "name": "north",
        "uid": "u",
        "unheard": 1,
        "labels": {"was": "v1"},
    }


async def test_a_function_need_not_return_kind_or_metadata() -> None:
    (after,) = await converted([gate("v1beta1", addresses=["a"])], "v1")
    assert after["kind"] == "Gate"
    assert after["metadata"]["name"] == "north"


async def test_objects_come_back_in_order_and_those_that_fit_unchanged() -> None:
    objects = [gate("v1", hosts=["0"])] + [gate("v1alpha1", host=str(n)) for n in range(1, 120)]
    after = await converted(objects, "v1")
    assert [each["spec"]["hosts"] for each in after] == [[str(n)] for n in range(120)]


async def test_a_response_says_success_and_echoes_the_uid() -> None:
    response = await convert([], "v1")
    assert (response.uid, response.result.status) == ("u", "Success")


async def test_one_object_that_cannot_be_converted_fails_them_all() -> None:
    objects = [gate("v1alpha1", host="a"), gate("v1alpha1", nohost="secret")]
    with pytest.raises(WebhookFailure) as failure:
        await convert(objects, "v1")
    assert failure.value.message == "converting Gate north to v1 failed: KeyError"


@pytest.mark.parametrize(
    ("obj", "desired", "message"),
    [
        (gate("v3", host="a"), "v1", "Gate has no version 'v3' here"),
        (gate("v1", hosts=["a"]), "v9", "Gate has no version 'v9' here"),
        ({"apiVersion": "gates.example.com/v2", "kind": "Fence"}, "v1", "Fence of"),
        ({}, "v1", "nothing of 'gates.example.com' is not converted here"),
        ([1], "v1", "must be a JSON object"),
    ],
)
async def test_what_is_not_declared_is_not_converted(obj: Any, desired: str, message: str) -> None:
    with pytest.raises(WebhookFailure, match=message) as failure:
        await convert([obj], desired)
    assert failure.value.code == 400


async def test_an_object_without_a_name_is_named_so() -> None:
    obj = {**gate("v1alpha1"), "metadata": None}
    with pytest.raises(WebhookFailure, match=r"Gate \(no name\)"):
        await convert([obj], "v1")


async def test_a_long_list_lets_others_run() -> None:
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    await convert([gate("v1alpha1", host="a")] * (3 * TURN_OBJECTS), "v1")
    task.cancel()
    assert turns >= 3


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(unknown=st.dictionaries(st.text(min_size=1, max_size=5), values, max_size=4))
def test_there_and_back_again_loses_nothing(unknown: dict[str, Any]) -> None:
    before = gate("v1alpha1", **{**unknown, "host": "a"})
    there = GATES.convert(msgspec.json.decode(msgspec.json.encode(before)), "v1")
    assert GATES.convert(there, "v1alpha1") == before
