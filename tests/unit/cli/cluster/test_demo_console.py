"""The demo looks at its console: every system that runs is there, or it is said."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from quintant.cli.cluster.demo_console import visit_systems
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream
from quintant.core.errors import ConfigError
from quintant.operators.cosmos import sample as cosmos
from quintant.operators.shifu.api.names import DEVICES
from quintant.operators.shifu.sample.floor import CITIES, FAULT, floor_devices


class ScriptedConsole:
    """A console with these topics."""

    def __init__(self, **topics: dict[str, Any]) -> None:
        self._topics, self.visited = topics, list[str]()

    async def request(self, call: ApiRequest) -> ApiResponse:
        name = call.path.removeprefix("/api/topics/")
        self.visited.append(name)
        rows = self._topics.get(name.replace("/", "_"), {})
        return ApiResponse(200, msgspec.json.encode({"rows": rows}))

    def stream(self, call: ApiRequest) -> AbstractAsyncContextManager[ApiStream]:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is held."""


PAGE = Path(__file__).parents[4] / "docs" / "console.md"


def test_what_the_docs_propose_to_try_is_there_in_the_demo() -> None:
    text = PAGE.read_text()
    assert "paris" in CITIES
    assert "thermometer" in floor_devices()
    for command in (
        f"kubectl annotate node paris {FAULT}=dead",
        f"kubectl -n {cosmos.NAMESPACE} scale cosmosfullnode {cosmos.NAME} --replicas 4",
        f"kubectl -n {DEVICES} edit edgedevice thermometer",
    ):
        assert command in text


OBJECT = {"link": "/objects/a"}


async def test_every_system_is_visited_with_an_object_and_the_map() -> None:
    console = ScriptedConsole(
        overview={"system/klight": {}, "system/shifu": {}},
        panel_klight={"uid": OBJECT},
        panel_shifu={"uid": OBJECT},
        object_a={"object": {}},
        edgemap={"node/a": {}},
    )
    line = await visit_systems(console, ["greeter", "klight", "shifu"])
    assert {"overview", "panel/klight", "panel/shifu", "object/a", "edgemap"} == set(
        console.visited
    )
    assert line == (
        "the console shows klight, shifu, and an object of each; "
        "without a panel of its own: greeter"
    )


@pytest.mark.parametrize(
    ("topics", "absent"),
    [
        ({"overview": {"system/shifu": {}}}, "system/klight"),
        ({"overview": {"system/klight": {}}}, "panel/klight"),
        ({"overview": {"system/klight": {}}, "panel_klight": {"uid": OBJECT}}, "object/a"),
    ],
)
async def test_a_system_that_runs_and_is_not_shown_is_an_error(
    topics: dict[str, Any], absent: str
) -> None:
    with pytest.raises(ConfigError, match=f"the console shows nothing of {absent}"):
        await visit_systems(ScriptedConsole(**topics), ["klight"])
