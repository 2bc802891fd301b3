"""A discovery of any shape fails that look, with an error that says so."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import pytest

from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.errors import Undecodable
from quintant.kopf.run.discovering import discover


class Discovery:
    """An API server that answers every request with the same bytes."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def request(self, call: ApiRequest) -> ApiResponse:
        return ApiResponse(200, self._body)

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    "body",
    [
        b"", b"<html>", b"[]", b"[" * 100_000, b"\xff", b'{"items": 7}', b'{"items": [7]}',
        b'{"items": [{"metadata": 7}]}', b'{"items": [{"versions": [{"resources": ["pods"]}]}]}',
        b'{"items": [{"versions": [{"resources": [{"verbs": 7}]}]}]}',
    ],
)  # fmt: skip
async def test_discovery_that_is_none_is_undecodable(body: bytes) -> None:
    with pytest.raises(Undecodable):
        await discover(Rest(Discovery(body)))
