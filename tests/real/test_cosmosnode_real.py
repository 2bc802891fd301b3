"""What runs beside a node, with a real CometBFT: its files are read, and it reads ours."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

import patience
from foreign.catalogue import COMETBFT
from quintant.agents.cosmosnode.chain_home import ChainHome
from quintant.agents.cosmosnode.config_merge import config_merge
from quintant.agents.cosmosnode.heights import stored_height
from quintant.agents.cosmosnode.state_sync import ask_server
from quintant.operators.cosmos.builders.node_key_builder import build_node_key
from quintant.wire.comet import CometStatus, parse_status
from unit.agents.cosmosnode.homes import variables

ADDRESS = "127.77.3.9"
OVERLAY = """\
moniker = "ours"
[p2p]
laddr = "tcp://0.0.0.0:26656"
[rpc]
laddr = "tcp://0.0.0.0:26657"
[instrumentation]
prometheus = true
prometheus_listen_addr = ":26660"
[consensus]
timeout_commit = "50ms"
"""


@pytest.fixture(scope="module")
def cometbft(request: pytest.FixtureRequest) -> str:
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        return str(COMETBFT.provide(os.environ))


@pytest.fixture
def home(cometbft: str, tmp_path: Path) -> ChainHome:
    """A home that the real `init` and our config-merge made, as the init containers do."""
    environ = {**variables(tmp_path), "QUINTANT_POD_IP": ADDRESS}
    found = ChainHome.find(environ)
    for folder in (found.home, found.pristine):
        subprocess.run([cometbft, "init", "--home", folder], check=True, capture_output=True)
    found.overlays.mkdir()
    (found.overlays / "config-overlay.toml").write_text(OVERLAY)
    (found.overlays / "node_key.json").write_text(build_node_key(bytes(32)).text)
    asyncio.run(config_merge(found, environ, ask_server))
    return found


def status() -> CometStatus:
    with urlopen(f"http://{ADDRESS}:26657/status", timeout=5) as answer:
        return parse_status(answer.read())


def until(true: Callable[[], bool]) -> None:
    ends = time.monotonic() + patience.seconds(30)
    while time.monotonic() < ends:
        try:
            if true():
                return
        except OSError:
            pass
        time.sleep(0.05)
    raise AssertionError("it did not come true in time")


@contextmanager
def running(cometbft: str, home: ChainHome) -> Iterator[subprocess.Popen[bytes]]:
    line = [cometbft, "start", "--home", str(home.home), "--proxy_app=kvstore"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def test_the_node_has_our_key_and_listens_where_we_say(cometbft: str, home: ChainHome) -> None:
    key = build_node_key(bytes(32))
    told = subprocess.run(
        [cometbft, "show-node-id", "--home", home.home], check=True, capture_output=True, text=True
    )
    assert told.stdout.strip() == key.node_id
    with running(cometbft, home):
        until(lambda: status().height > 1)
        found = status()
        assert (found.node_id, found.moniker) == (key.node_id, "ours")
        with urlopen(f"http://{ADDRESS}:26657/net_info", timeout=5) as answer:
            assert json.loads(answer.read())["result"]["n_peers"] == "0"


def test_the_height_is_read_while_it_runs_when_it_stopped_and_when_it_was_killed(
    cometbft: str, home: ChainHome
) -> None:
    with running(cometbft, home) as process:
        until(lambda: status().height > 20)
        before, read, after = status().height, stored_height(home.data), status().height
        assert read is not None
        assert before <= read <= after + 1
        process.terminate()
        process.wait()
    stopped = stored_height(home.data)
    assert stopped is not None
    assert stopped >= after
    with running(cometbft, home) as process:
        until(lambda: status().height > stopped + 10)
        last = status().height
        process.kill()
        process.wait()
    killed = stored_height(home.data)
    assert killed is not None
    assert killed >= last
