"""What a command reads of a server, whatever is stored there."""

from __future__ import annotations

import pytest

from quintant.api.core import ConfigMap
from quintant.cli.look.get import objects
from quintant.cli.look.objects import LEVELS, ResourceScope, Selection
from quintant.client.rest import Rest
from quintant.client.transport import ApiRequest, ApiResponse, InProcessTransport
from quintant.core.resource import resource_of

# Deeper than any process can follow, an embedded server's included.
DEPTH = 200_000


class DeepServer:
    """A server that has stored two objects, one of them far too deep."""

    async def request(self, call: ApiRequest) -> ApiResponse:
        deep = b'{"a":' * DEPTH + b"1" + b"}" * DEPTH
        return ApiResponse(
            200,
            b'{"kind":"ConfigMapList","items":[{"metadata":{"name":"deep"},"data":%b},'
            b'{"metadata":{"name":"flat"},"data":{"a":"b"}}]}' % deep,
        )

    def stream(self, call: ApiRequest) -> None:
        raise NotImplementedError


async def test_object_that_is_too_deep_is_shown_beside_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rest = Rest(InProcessTransport(DeepServer()))  # type: ignore[arg-type]
    chosen = Selection((resource_of(ConfigMap),))
    found = [each async for each in objects(rest, chosen, ResourceScope("default"))]
    assert [each["metadata"]["name"] for each in found] == ["deep", "flat"]
    assert found[1]["data"] == {"a": "b"}
    assert f"deeper than {LEVELS} levels is shown as null" in capsys.readouterr().err
