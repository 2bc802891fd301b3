"""Points of a program in real time are named by what they are."""

from __future__ import annotations

import msgspec
import pytest

from quintant.client.request_info import resource_path
from quintant.client.transport import ApiRequest
from quintant.testing.explore.foreign.generated_names import GeneratedNames
from quintant.testing.explore.foreign.points import NamedPoints, is_point, written_names
from quintant.testing.explore.injection.fault import FaultMode, RunToken
from quintant.testing.explore.injection.process import decode_event
from quintant.testing.explore.injection.trace import PointKind

SETS = "/apis/apps/v1/namespaces/default/statefulsets"


def create(path: str, **meta: object) -> ApiRequest:
    return ApiRequest("POST", path, {}, {}, msgspec.json.encode({"metadata": meta}))


def name_of(points: NamedPoints, call: ApiRequest) -> str:
    return points.of_write(call, points.written(call, resource_path(call.path)))


def test_a_write_is_named_by_verb_resource_and_object_and_counted() -> None:
    points = NamedPoints(GeneratedNames())
    delete = ApiRequest("DELETE", f"{SETS}/r")
    assert name_of(points, delete) == "delete:apps/statefulsets:default/r#1"
    assert name_of(points, delete) == "delete:apps/statefulsets:default/r#2"
    status = ApiRequest("PATCH", f"{SETS}/r/status")
    assert name_of(points, status) == "patch:apps/statefulsets/status:default/r#1"
    assert name_of(points, create(SETS, name="q")) == "create:apps/statefulsets:default/q#1"
    node = ApiRequest("PATCH", "/api/v1/nodes/n")
    assert name_of(points, node) == "patch:nodes:n#1"


def test_a_name_that_the_server_will_make_is_a_number() -> None:
    names = GeneratedNames()
    points, pods = NamedPoints(names), "/api/v1/namespaces/default/pods"
    assert name_of(points, create(pods, generateName="r-")) == "create:pods:default/r-<1>#1"
    names.note("pods", "default", "r-abcde", "r-")
    assert name_of(points, create(pods, generateName="r-")) == "create:pods:default/r-<2>#1"
    assert name_of(points, ApiRequest("DELETE", f"{pods}/r-abcde")) == "delete:pods:default/r-<1>#1"


def test_an_event_that_two_watches_bring_is_one_point() -> None:
    points = NamedPoints(GeneratedNames())
    line = (
        b'{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"b","resourceVersion":"7"}}}'
    )
    at = resource_path("/api/v1/pods")
    assert points.of_event(at, decode_event(line)) == "ADDED:pods:b/a#1"
    assert points.of_event(at, decode_event(line)) is None


@pytest.mark.parametrize(
    "call",
    [
        ApiRequest("PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b"),
        ApiRequest("POST", "/api/v1/namespaces/a/events"),
        ApiRequest("POST", "/apis/events.k8s.io/v1/namespaces/a/events"),
        ApiRequest("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
        ApiRequest("POST", "/api/v1/namespaces/a/pods/b/exec"),
        ApiRequest("PATCH", f"{SETS}/r", {"dryRun": "All"}),
        ApiRequest(
            "PUT",
            "/api/v1/namespaces/a/configmaps/lock",
            {},
            {},
            b'{"metadata":{"annotations":{"control-plane.alpha.kubernetes.io/leader":"{}"}}}',
        ),
    ],
)
def test_elections_events_and_reviews_are_no_points(call: ApiRequest) -> None:
    assert not is_point(call, resource_path(call.path))


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1]", b"k8s\x00\xff", b'{"metadata":3}', b"\xff\xfe"]
)
def test_a_body_that_cannot_be_read_has_no_names(body: bytes) -> None:
    assert written_names(body).name == ""


def test_tokens_name_points() -> None:
    token = RunToken.parse("crash-after@delete:apps/statefulsets:default/r-server#1")
    (fault,) = token.faults
    assert (fault.mode, fault.kind) == (FaultMode.CRASH_AFTER, PointKind.WRITE)
    assert fault.point == "delete:apps/statefulsets:default/r-server#1"
    assert str(token) == "crash-after@delete:apps/statefulsets:default/r-server#1"
    (event,) = RunToken.parse("rewind@MODIFIED:pods:default/r-<1>#2").faults
    assert event.kind is PointKind.EVENT
    (role,) = RunToken.parse("lost@create:rbac.authorization.k8s.io/roles:a/system:b#1").faults
    assert role.point == "create:rbac.authorization.k8s.io/roles:a/system:b#1"
