"""The client of Infrastructure Manager: what it sends, and what it makes of answers of any sort."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.errors import ConnectError
from quintant.keys.sensitive import Sensitive
from quintant.operators.infra.builders import CLUSTER_UID, CREATE_TOKEN, OWNER
from quintant.operators.infra.metrics import InfraMetrics
from quintant.operators.infra.observed.answers import ErrorClass, InfrastructureWord, ProviderError
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.observed.session import ProviderSession
from quintant.operators.infra.remote.gate import Gate
from quintant.operators.infra.remote.im import ImProvider

SESSION = ProviderSession(
    "http://im", {"username": Sensitive("me"), "password": Sensitive("s3cret")},
    {"id": "c.0", "type": "OpenStack"}, cloud_id="c.0",
)  # fmt: skip
URI = "http://im/infrastructures/"


class Wire:
    """A transport that answers what a test says, and keeps what was asked."""

    def __init__(self, **answers: Any) -> None:
        self.answers, self.asked = answers, list[ApiRequest]()

    async def request(self, call: ApiRequest) -> ApiResponse:
        self.asked.append(call)
        answer = self.answers[f"{call.method} {call.target}".replace(" ", "_")]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ApiResponse) else ApiResponse(200, _body(answer))

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        self.asked.append(call)

        async def chunks() -> AsyncIterator[bytes]:
            for _ in range(200):
                yield b"noise " * 1000
            yield b"the reason"

        yield ApiStream(200, chunks())

    async def close(self) -> None: ...


def _body(answer: Any) -> bytes:
    return answer if isinstance(answer, bytes) else json.dumps(answer).encode()


def provider(**answers: Any) -> tuple[ImProvider, Wire]:
    wire = Wire(**answers)
    return ImProvider(SESSION, wire, Gate(8), InfraMetrics()), wire


@pytest.mark.parametrize(
    "answer",
    [
        ApiResponse(200, b"", {"infid": "i-1"}),
        {"uri": f"{URI}i-1"},
        {"uri-list": [{"uri": f"{URI}i-1"}]},
        f"{URI}i-1\n".encode(),
    ],
)
async def test_id_is_taken_from_every_form_of_answer(answer: Any) -> None:
    im, wire = provider(**{"POST_/infrastructures?async=true": answer})
    assert await im.create({"a": "b"}) == "i-1"
    [call] = wire.asked
    assert call.headers["content-type"] == "text/yaml"
    assert call.body == b'{"a":"b"}'
    assert "s3cret" in call.headers["authorization"]
    assert not call.idempotent


async def test_creation_without_an_id_may_have_been_made() -> None:
    im, _ = provider(**{"POST_/infrastructures?async=true": b"?"})
    with pytest.raises(ProviderError) as lost:
        await im.create({})
    assert lost.value.failure.applied is None


async def test_version_needs_no_credentials() -> None:
    for answer in ({"version": "2.0.0"}, b"2.0.0\n", b'"2.0.0"'):
        im, wire = provider(GET_version=answer, **{"GET_/version": answer})
        assert await im.version() == "2.0.0"
        assert "authorization" not in wire.asked[0].headers


@pytest.mark.parametrize(
    "answer",
    [b"root:x:0:0", b"<html>1.2.3</html>", {"version": ["2.0.0"]}, {"version": "1"}, b"1.2 secret",
     {"other": "2.0.0"}, b"2.0.0\nsecret", ("1." * 40).encode(), b""],
)  # fmt: skip
async def test_what_is_no_version_is_not_shown(answer: Any) -> None:
    im, _ = provider(**{"GET_/version": answer})
    with pytest.raises(ProviderError) as failed:
        await im.version()
    assert failed.value.failure.kind is ErrorClass.TRANSIENT
    assert "secret" not in failed.value.failure.message


async def test_only_words_of_im_are_shown_of_machines() -> None:
    told = {"state": {"state": "running", "vm_states": {"0": "x" * 9000, "1": "off"}}}
    im, _ = provider(**{"GET_/infrastructures/i-1/state": told})
    assert (await im.state("i-1")).machines == {"0": "unknown", "1": "off"}
    system = {"class": "system", "instance_name": "n" * 9000, "net_interface.0.ip": "<script>"}
    im, _ = provider(**{"GET_/infrastructures/i-1/vms/0": {"radl": [system]}})
    details = (await im.machines("i-1", ["0"]))["0"]
    assert (len(details.name), details.addresses) == (253, ())


async def test_state_has_every_machine() -> None:
    told = {"state": {"state": "running", "vm_states": {"0": "configured", "1": "unconfigured"}}}
    im, _ = provider(**{"GET_/infrastructures/i-1/state": told})
    found = await im.state("i-1")
    assert found.word is InfrastructureWord.RUNNING
    assert found.settled is InfrastructureWord.UNCONFIGURED


@pytest.mark.parametrize(
    "answer",
    [
        b"{",
        b"<html>",
        b"[]",
        {"state": {}},
        {"state": {"state": "new"}},
        {"state": "x"},
        {"state": {"state": ["running"]}},
        {"state": {"state": "off", "vm_states": {"0": 1}}},
        {"state": {"state": "off", "vm_states": {"../..": "off"}}},
    ],
)
async def test_answer_that_is_none_is_a_passing_failure(answer: Any) -> None:
    im, _ = provider(**{"GET_/infrastructures/i-1/state": answer})
    with pytest.raises(ProviderError) as failed:
        await im.state("i-1")
    assert failed.value.failure.kind is ErrorClass.TRANSIENT


def marked(token: object = "", uid: str = "", owner: str = "") -> dict[str, str]:
    marks = {CREATE_TOKEN: token, CLUSTER_UID: uid, OWNER: owner}
    return {"tosca": json.dumps({"metadata": marks})}


async def test_infrastructure_is_found_by_its_marks_or_by_what_is_left_of_them() -> None:
    lost = ApiResponse(
        403, b'{"message": "\'tosca\' infrastructure property is not valid", "code": 403}'
    )
    gone = ApiResponse(404, b'{"message": "x: Deleted infrastructure.", "code": 404}')
    im, _ = provider(**{
        "GET_/infrastructures": {"uri-list": [{"uri": f"{URI}{id}"} for id in "abcdefgh"]},
        "GET_/infrastructures/a/tosca": marked("t-1"),
        "GET_/infrastructures/b/tosca": marked("other"),
        "GET_/infrastructures/c/tosca": lost,
        "GET_/infrastructures/c/radl": {"radl": [{"class": "description", "name": "one--t-1"}]},
        "GET_/infrastructures/d/tosca": gone,
        "GET_/infrastructures/e/tosca": marked("", "u-1", "us"),
        "GET_/infrastructures/f/tosca": marked("t-11", "u-1", "others"),
        "GET_/infrastructures/g/tosca": lost,
        "GET_/infrastructures/g/radl": b"description desc (name = 'x--t-1' and\nnamespace = 'x')",
        "GET_/infrastructures/h/tosca": {"tosca": "metadata: {x: t-1, infra_name: t-1}"},
    })  # fmt: skip
    assert await im.find(InfrastructureMarks("t-1")) == ("a", "c", "g")
    assert await im.find(InfrastructureMarks("", "u-1", "us")) == ("e",)


DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    "answer",
    [b"\xff\xfe", b"<html>", b"[1]", {"tosca": 7}, {"tosca": DEEP}, {"other": "x"},
     f"a: {DEEP}".encode(), {"tosca": "&a [*a, *a]"}, {"tosca": "a: 99999999999999999999"}],
)  # fmt: skip
async def test_template_that_cannot_be_read_was_not_lost(answer: Any) -> None:
    im, _ = provider(**{"GET_/infrastructures/a/tosca": answer})
    with pytest.raises(ProviderError) as failed:
        await im.template("a")
    assert failed.value.failure.kind is ErrorClass.TRANSIENT


async def test_template_that_cannot_be_read_ends_no_search() -> None:
    im, _ = provider(**{
        "GET_/infrastructures": {"uri-list": [{"uri": f"{URI}{id}"} for id in "ab"]},
        "GET_/infrastructures/a/tosca": {"tosca": DEEP},
        "GET_/infrastructures/a/radl": {"radl": [{"class": "description", "name": "x"}]},
        "GET_/infrastructures/b/tosca": marked("t-1"),
    })  # fmt: skip
    assert await im.find(InfrastructureMarks("t-1")) == ("b",)
    assert await im.find(InfrastructureMarks("t-1"), besides={"b"}) == ()


@pytest.mark.parametrize("answer", [{"radl": True}, {"radl": {"a": 1}}, [None], 7, b"\xff"])
async def test_machine_whose_description_is_none_has_no_name(answer: Any) -> None:
    im, _ = provider(**{"GET_/infrastructures/i-1/vms/0": answer})
    assert (await im.machines("i-1", ["0"]))["0"].name == ""


async def test_empty_mark_matches_nothing() -> None:
    im, _ = provider(**{
        "GET_/infrastructures": {"uri-list": [{"uri": f"{URI}{id}"} for id in "ab"]},
        "GET_/infrastructures/a/tosca": marked(),
        "GET_/infrastructures/b/tosca": marked(["t-1"]),
    })  # fmt: skip
    assert await im.find(InfrastructureMarks()) == ()
    assert await im.find(InfrastructureMarks("", "", "us")) == ()


async def test_search_that_is_cut_short_finds_nothing_out() -> None:
    im, _ = provider(**{
        "GET_/infrastructures": {"uri-list": [{"uri": f"{URI}a"}]},
        "GET_/infrastructures/a/tosca": ConnectError("cut"),
    })  # fmt: skip
    with pytest.raises(ProviderError):
        await im.find(InfrastructureMarks("t-1"))


async def test_machines_have_names_and_addresses_and_no_credentials() -> None:
    system = {
        "class": "system", "instance_name": "front", "net_interface.0.ip": "10.0.0.1",
        "disk.0.os.credentials.password": "s3cret",
    }  # fmt: skip
    im, _ = provider(**{"GET_/infrastructures/i-1/vms/0": {"radl": [{"class": "network"}, system]}})
    found = await im.machines("i-1", ["0"])
    assert (found["0"].name, found["0"].addresses) == ("front", ("10.0.0.1",))
    assert "s3cret" not in repr(found)


async def test_log_is_its_end() -> None:
    im, _ = provider()
    log = await im.log("i-1")
    assert log.endswith("the reason")
    assert len(log) <= 1024


async def test_template_that_is_lost_is_told_apart() -> None:
    lost = ApiResponse(
        403, b'{"message": "\'outputs\' infrastructure property not valid", "code": 403}'
    )
    im, _ = provider(**{"GET_/infrastructures/i-1/outputs": lost})
    with pytest.raises(ProviderError) as failed:
        await im.outputs("i-1")
    assert failed.value.failure.reason == "TemplateLost"


async def test_deletions_say_how_they_are_meant() -> None:
    im, wire = provider(**{
        "DELETE_/infrastructures/i-1?async=true": b"",
        "DELETE_/infrastructures/i-1?async=true&force=true": b"",
        "DELETE_/infrastructures/i-1": b"",
    })  # fmt: skip
    await im.delete("i-1")
    await im.delete("i-1", force=True)
    await im.delete_now("i-1", 1800)
    assert [call.timeout for call in wire.asked] == [30.0, 30.0, 1800]
