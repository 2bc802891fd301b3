from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintant.core.clock import monotonic
from quintant.core.errors import ApiError, BadRequest, NotFound
from quintant.core.object import replace
from quintant.runtime.observe.metrics import Metrics
from quintant.runtime.webhook import (
    Admission,
    Denied,
    Plain,
    Spoke,
    WebhookDeclarations,
    WebhookSettings,
)
from quintant.runtime.webhook.review import ReviewHandler
from quintant.runtime.webhook.route import ADMISSION_BYTES
from quintant.testing.loop import run, settle
from unit.runtime.webhook.kinds import UID, Gate, admission, client, conversion, document

SLOW_SECONDS = 3600.0
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000


async def judge(_old: Gate | None, new: Gate | None, _: Admission) -> Denied | None:
    """Says no to some hosts, is slow on others, and fails on the rest."""
    match new.spec.host if new else "":
        case "deny":
            return Denied("not this one")
        case "slow":
            await asyncio.sleep(SLOW_SECONDS)
        case "late":
            raise TimeoutError
        case "secret":
            raise ValueError("token=hunter2")
    return None


async def amend(new: Gate, _: Admission) -> Gate:
    await asyncio.sleep(SLOW_SECONDS if new.spec.host == "slow" else 0)
    return replace(new, spec=replace(new.spec, host="amended"))


def up(obj: Plain) -> Plain:
    return {**obj, "spec": {"host": obj["spec"]["name"]}}


def down(obj: Plain) -> Plain:
    return {**obj, "spec": {"name": obj["spec"]["host"]}}


class Server:
    """Webhooks, called in process."""

    def __init__(self) -> None:
        webhooks = WebhookDeclarations("gates")
        webhooks.validating(Gate, judge, path="/judge")
        ignore = WebhookSettings(failure_policy="Ignore", timeout_seconds=2)
        webhooks.validating(Gate, judge, path="/ask", name="ask.example.com", settings=ignore)
        webhooks.mutating(Gate, amend, path="/amend")
        webhooks.converting(Gate, {"v1alpha1": Spoke(up, down)})
        self.metrics = Metrics()
        self.reviews = ReviewHandler(webhooks, client=client(), metrics=self.metrics)

    async def response(self, target: str, body: bytes) -> Any:
        return msgspec.json.decode(await self.reviews.review(target, body))["response"]

    def sample(self, name: str, **labels: str) -> float | None:
        full = f"controller_runtime_webhook_{name}"
        return self.metrics.registry.value(full, labels)


@pytest.fixture
def server() -> Server:
    return Server()


async def test_a_review_is_answered_in_its_own_version_with_its_uid(server: Server) -> None:
    for version in ("admission.k8s.io/v1", "admission.k8s.io/v1beta1"):
        body = await server.reviews.review("/judge", admission(document(), version=version))
        assert msgspec.json.decode(body) == {
            "apiVersion": version,
            "kind": "AdmissionReview",
            "response": {"uid": UID, "allowed": True},
        }


async def test_a_denial_is_answered_with_http_200_and_counted_by_its_own_code(
    server: Server,
) -> None:
    response = await server.response("/judge", admission(document({"host": "deny"})))
    assert response["allowed"] is False
    assert response["status"]["message"] == "not this one"
    assert server.sample("requests_total", webhook="/judge", code="403") == 1
    assert server.sample("latency_seconds_count", webhook="/judge") == 1
    assert server.sample("requests_in_flight", webhook="/judge") == 0


async def test_a_mutation_is_answered_with_a_base64_patch(server: Server) -> None:
    response = await server.response("/amend", admission(document()))
    assert response["patchType"] == "JSONPatch"
    assert response["patch"].startswith("W3si")


async def test_a_list_is_converted(server: Server) -> None:
    objects = [{"apiVersion": "gates.example.com/v1", "kind": "Gate", "spec": {"host": "a"}}]
    response = await server.response("/convert", conversion(objects, "gates.example.com/v1alpha1"))
    assert response["uid"] == UID
    assert response["result"] == {"status": "Success"}
    assert [obj["spec"] for obj in response["convertedObjects"]] == [{"name": "a"}]


async def test_a_failed_conversion_converts_nothing_and_says_why(server: Server) -> None:
    objects = [
        {"apiVersion": "gates.example.com/v1", "kind": "Gate", "spec": spec}
        for spec in ({"host": "a"}, {})
    ]
    response = await server.response("/convert", conversion(objects, "gates.example.com/v1alpha1"))
    assert "convertedObjects" not in response
    assert response["uid"] == UID
    assert response["result"]["status"] == "Failure"
    assert "KeyError" in response["result"]["message"]
    assert server.sample("requests_total", webhook="/convert", code="500") == 1


@pytest.mark.parametrize(
    ("target", "seconds"),
    [
        ("/judge?timeout=10s", 9.5),
        ("/judge?timeout=1s", 0.5),
        ("/judge?timeout=500ms", 0.25),
        ("/judge?timeout=1m30s", 89.5),
        ("/judge", 9.5),
        ("/judge?timeout=soon", 9.5),
        ("/judge?timeout=0s", 9.5),
    ],
)
async def test_a_slow_handler_is_answered_for_before_the_api_server_gives_up(
    server: Server, target: str, seconds: float
) -> None:
    response = await server.response(target, admission(document({"host": "slow"})))
    assert monotonic() == pytest.approx(seconds)
    assert response["uid"] == UID
    assert response["status"] == {
        "status": "Failure",
        "message": f"there was no verdict within {seconds:g} s",
        "reason": "Timeout",
        "code": 504,
    }
    assert server.sample("requests_total", webhook="/judge", code="504") == 1


async def test_a_slow_mutator_is_answered_for_too(server: Server) -> None:
    response = await server.response("/amend?timeout=5s", admission(document({"host": "slow"})))
    assert monotonic() == pytest.approx(4.5)
    assert response["status"]["code"] == 504


async def test_a_failure_refuses_the_change_without_telling_secrets(server: Server) -> None:
    body = await server.reviews.review("/judge", admission(document({"host": "secret"})))
    assert b"hunter2" not in body
    response = msgspec.json.decode(body)["response"]
    assert response["allowed"] is False
    assert response["status"]["code"] == 500
    assert response["status"]["message"] == "the validator failed: ValueError"
    assert server.sample("requests_total", webhook="/judge", code="500") == 1


async def test_a_handlers_own_timeout_is_an_error_of_its_own(server: Server) -> None:
    response = await server.response("/judge", admission(document({"host": "late"})))
    assert response["status"]["message"] == "the validator failed: TimeoutError"


@pytest.mark.parametrize("host", ["secret", "slow"])
async def test_a_failure_lets_the_change_through_where_it_is_to_be_ignored(
    server: Server, host: str
) -> None:
    response = await server.response("/ask", admission(document({"host": host})))
    assert response["allowed"] is True
    assert response["uid"] == UID
    assert "status" not in response
    (warning,) = response["warnings"]
    assert warning.startswith("ask.example.com was ignored: ")
    code = "500" if host == "secret" else "504"
    assert server.sample("requests_total", webhook="/ask", code=code) == 1


async def test_a_denial_is_never_ignored(server: Server) -> None:
    response = await server.response("/ask", admission(document({"host": "deny"})))
    assert response["allowed"] is False


async def test_a_declared_timeout_counts_where_the_server_names_none(server: Server) -> None:
    await server.response("/ask", admission(document({"host": "slow"})))
    assert monotonic() == pytest.approx(1.5)


async def test_an_object_that_does_not_fit_is_refused_with_400(server: Server) -> None:
    response = await server.response("/judge", admission(document({"host": 5})))
    assert (response["allowed"], response["status"]["code"]) == (False, 400)


@pytest.mark.parametrize(
    "body",
    [
        admission(document(), version="admission.k8s.io/v2"),
        admission(document(), name=5),
        msgspec.json.encode({"apiVersion": "admission.k8s.io/v1", "kind": "Pod",
                             "request": {"uid": UID}}),
        msgspec.json.encode({"request": {"uid": UID}}),
    ],
)  # fmt: skip
async def test_a_broken_review_with_a_uid_is_answered_with_it(server: Server, body: bytes) -> None:
    answer = msgspec.json.decode(await server.reviews.review("/judge", body))
    assert answer["apiVersion"] == "admission.k8s.io/v1"
    assert answer["response"]["uid"] == UID
    assert answer["response"]["allowed"] is False
    assert answer["response"]["status"]["code"] == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"garbage",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
        b'{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}',
        b'{"request":{"uid":7}}',
        admission(document())[:-20],
        admission(document()).replace(b'"red"', DEEP),
    ],
)
@pytest.mark.parametrize("path", ["/judge", "/convert"])
async def test_a_body_that_is_no_review_is_refused_with_a_status(
    server: Server, path: str, body: bytes
) -> None:
    reply = await server.reviews.answer(path, body)
    status = msgspec.json.decode(reply.body)
    assert reply.status == 400
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", 400)
    assert server.sample("requests_total", webhook=path, code="400") == 1
    with pytest.raises(BadRequest):
        await server.reviews.review(path, body)


async def test_an_unknown_path_is_not_found_and_not_counted(server: Server) -> None:
    with pytest.raises(NotFound, match="no webhook is served at /nowhere"):
        await server.reviews.review("/nowhere?timeout=1s", admission(document()))
    assert b"/nowhere" not in server.metrics.render()


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/yaml"])
async def test_another_content_type_is_refused(server: Server, content_type: str) -> None:
    reply = await server.reviews.answer("/judge", admission(document()), content_type)
    assert reply.status == 415


async def test_a_content_type_may_name_its_charset(server: Server) -> None:
    kind = "Application/JSON; charset=utf-8"
    assert (await server.reviews.answer("/judge", admission(document()), kind)).status == 200


async def test_a_body_beyond_the_limit_is_refused(server: Server) -> None:
    with pytest.raises(ApiError) as refused:
        await server.reviews.review("/judge", b" " * (ADMISSION_BYTES + 1))
    assert refused.value.status == 413


async def test_two_objects_of_three_mebibytes_fit(server: Server) -> None:
    big = document({"host": "a", "filling": "x" * (3 * 1024 * 1024 - 1000)})
    assert (await server.response("/judge", admission(big, big)))["allowed"] is True


async def test_cancellation_is_not_answered_and_leaves_no_request_in_flight(
    server: Server,
) -> None:
    slow = admission(document({"host": "slow"}))
    task = asyncio.create_task(server.reviews.review("/judge", slow))
    await settle()
    assert server.sample("requests_in_flight", webhook="/judge") == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.sample("requests_in_flight", webhook="/judge") == 0
    assert server.sample("requests_total", webhook="/judge", code="499") == 1


async def test_reviews_are_answered_side_by_side(server: Server) -> None:
    slow = asyncio.create_task(
        server.reviews.review("/judge", admission(document({"host": "slow"})))
    )
    assert (await server.response("/judge", admission(document())))["allowed"] is True
    assert not slow.done()
    await slow


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["request", "uid", "object", "kind", "objects", "spec"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(body=st.binary(max_size=50) | plain.map(msgspec.json.encode), head=st.booleans())
def test_no_body_whatsoever_breaks_the_server(body: bytes, head: bool) -> None:
    if head and body.startswith(b"{") and len(body) > 2:
        body = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",' + body[1:]

    async def ask() -> None:
        reviews = Server().reviews
        for path in ("/judge", "/ask", "/amend", "/convert"):
            reply = await reviews.answer(path, body)
            answer = msgspec.json.decode(reply.body)
            assert reply.status in (200, 400)
            assert (reply.status == 200) == ("response" in answer)

    run(ask())
