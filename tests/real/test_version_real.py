"""The API server that tests run against is of the version that was asked for."""

from __future__ import annotations

import os

import msgspec
import pytest

from envtest.existing import disposable
from envtest.versions import chosen
from quintant import Client

pytestmark = pytest.mark.realtime

GIVEN = disposable(os.environ) or bool(os.environ.get("KUBEBUILDER_ASSETS"))


@pytest.mark.skipif(GIVEN, reason="a given cluster has the version that it has")
async def test_the_server_has_the_version_that_was_asked_for(client: Client) -> None:
    version = msgspec.json.decode(await client.raw("GET", "/version"))
    assert version["gitVersion"] == chosen(os.environ)
