"""What a dead life sends is not let in, and what is answered can be read on its way."""

from __future__ import annotations

from quintant.client.transport import ApiRequest
from quintant.testing.explore.foreign.gateway import plain_call, signature


def accepting(accept: str) -> str:
    call = ApiRequest("GET", "/api/v1/pods", {}, {"accept": accept, "accept-encoding": "gzip"})
    plain = plain_call(call)
    assert "accept-encoding" not in plain.headers
    return plain.headers["accept"]


def test_answers_are_json() -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert accepting("application/vnd.kubernetes.protobuf,application/json") == "application/json"
    assert accepting("application/vnd.kubernetes.protobuf") == "application/json"
    assert accepting(f"{table},application/json") == f"{table},application/json"
    assert accepting("*/*") == "*/*"


def test_a_watch_is_known_by_what_it_is_about() -> None:
    call = ApiRequest("GET", "/api/v1/pods", {"watch": "1", "labelSelector": "a=b", "limit": "3"})
    assert signature(call) == "/api/v1/pods a=b"
