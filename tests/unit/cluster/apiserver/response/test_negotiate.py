from __future__ import annotations

import asyncio

import msgspec
import pytest
import yaml

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON, YAML
from quintant.cluster.apiserver.meta.status import StatusError
from quintant.cluster.apiserver.offload.pool import Offload
from quintant.cluster.apiserver.response.negotiate import (
    NegotiatedMedia,
    ResponseForm,
    encode_reply,
    negotiate,
)

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "negotiated"),
    [
        ("", NegotiatedMedia()),
        ("*/*", NegotiatedMedia()),
        (YAML, NegotiatedMedia(YAML)),
        (f"{JSON};q=0.1, {YAML};q=0.2", NegotiatedMedia(YAML)),
        (f"{JSON};q=bad, {YAML}", NegotiatedMedia(YAML)),
        (f"application/vnd.kubernetes.protobuf, {JSON}", NegotiatedMedia()),
        (f"{JSON};pretty=1", NegotiatedMedia(pretty=True)),
        (f"{TABLE},{JSON}", NegotiatedMedia(answer=ResponseForm.TABLE)),
        (f"{JSON};as=Table;v=v9;g=meta.k8s.io,{JSON}", NegotiatedMedia()),
        (
            f"{JSON};as=Table;v=v1beta1;g=meta.k8s.io",
            NegotiatedMedia(answer=ResponseForm.TABLE, version="v1beta1"),
        ),
    ],
)
def test_the_form_liked_best_is_taken(accept: str, negotiated: NegotiatedMedia) -> None:
    assert negotiate(accept, routed=True) == negotiated


@pytest.mark.parametrize(
    "accept",
    ["text/html", "application/*", f"{JSON};as=Nope;v=v1;g=meta.k8s.io", "application/xml"],
)
def test_what_cannot_be_had_is_refused(accept: str) -> None:
    with pytest.raises(StatusError) as refusal:
        negotiate(accept, routed=True)
    assert refusal.value.code == 406


@pytest.mark.parametrize(
    ("headers", "query", "body"),
    [
        ({}, {}, b'{"a":{}}\n'),
        ({"user-agent": "curl/8.0"}, {}, b'{\n  "a": {}\n}'),
        ({"user-agent": "curl/8.0"}, {"pretty": "0"}, b'{"a":{}}\n'),
        ({}, {"pretty": "true"}, b'{\n  "a": {}\n}'),
        ({"accept": YAML}, {}, b"a: {}\n"),
    ],
)
async def test_an_answer_is_dressed_for_its_reader(
    headers: dict[str, str], query: dict[str, str], body: bytes
) -> None:
    call = ApiRequest("GET", "/", query, headers)
    reply = await encode_reply(
        call, ApiResponse(200, b'{"a":{}}\n', {"content-type": JSON}), Offload()
    )
    assert reply.body == body


async def test_what_is_not_json_is_left_alone() -> None:
    reply = ApiResponse(200, b"ok", {"content-type": "text/plain"})
    assert (
        await encode_reply(ApiRequest("GET", "/", {}, {"accept": YAML}), reply, Offload()) is reply
    )


async def test_a_long_list_in_yaml_is_written_beside_the_loop() -> None:
    items = [{"metadata": {"name": f"c{at}"}, "data": {"k": "v"}} for at in range(250)]
    document = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"a": "b"}, "items": items}
    reply = ApiResponse(200, msgspec.json.encode(document), {"content-type": JSON})
    beside, turns = Offload(), 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others_too = asyncio.ensure_future(others())
    with beside.with_threads():
        written = await encode_reply(ApiRequest("GET", "/", {}, {"accept": YAML}), reply, beside)
    others_too.cancel()
    assert yaml.safe_load(written.body) == document
    assert written.body == yaml.dump(document, encoding="utf-8")
    assert turns > 1
