"""`kopf.testing.KopfRunner`: an operator beside a test, and what came of it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import patience
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.cluster.instance.cluster import ClusterConfig, run_cluster, save_kubeconfig
from quintant.core.address import BindAddress
from quintant.kopf.module import provide
from quintant.kopf.testing import KopfRunner
from unit.cluster.api import Requests
from unit.kopf.kit import fresh_registry

MAPS = "/api/v1/namespaces/default/configmaps"
WITHIN = 30.0
HANDLERS = """
import kopf

@kopf.on.create("configmaps", labels={"of": "test"})
def create(name, logger, **_):
    logger.info("made of it: %s", name.upper())
"""


class Heard(logging.Handler):
    """Notes that the handler was called."""

    def __init__(self) -> None:
        super().__init__()
        self.called = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if "made of it" in record.getMessage():
            self.called.set()


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler, logger = Heard(), logging.getLogger("kopf.objects")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


@pytest.fixture
def handlers(tmp_path: Path) -> Path:
    fresh_registry()
    path = tmp_path / "handlers.py"
    path.write_text(HANDLERS)
    return path


async def created(kubeconfig: Path) -> None:
    transport = HttpTransport(Config.load(kubeconfig))
    meta = {"name": "a", "labels": {"of": "test"}}
    await Requests(transport).create(
        MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}
    )
    await transport.close()


@pytest.mark.realtime
async def test_an_operator_works_while_a_test_does_and_ends_with_it(
    handlers: Path, heard: Heard, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "kubeconfig"

    def work() -> KopfRunner:
        line = ["run", "--all-namespaces", "--standalone", "--verbose", str(handlers)]
        with KopfRunner(line, timeout=patience.seconds(WITHIN), env=environ) as runner:
            assert heard.called.wait(patience.seconds(WITHIN))
        return runner

    async with run_cluster(ClusterConfig(BindAddress("127.0.0.1", 0))) as cluster:
        save_kubeconfig(cluster, kubeconfig)
        environ = {"KUBECONFIG": str(kubeconfig)}
        await created(kubeconfig)
        runner = await asyncio.to_thread(work)
    assert (runner.exit_code, runner.exception) == (0, None)
    assert "[default/a] made of it: A" in runner.output
    assert "[default/a] Creation is in progress:" in runner.output
    assert "[default/a] Handler 'create' succeeded." in runner.output


def test_what_ends_an_operator_is_raised_in_the_test_or_kept_for_it(
    handlers: Path, tmp_path: Path
) -> None:
    environ = {"KUBECONFIG": str(tmp_path / "none")}
    line = ["run", "-A", str(handlers)]
    with pytest.raises(Exception, match="none"), KopfRunner(line, env=environ):
        pass
    with KopfRunner(line, reraise=False, env=environ) as runner:
        pass
    assert runner.exit_code == 1
    assert runner.exception is not None


def test_a_line_that_means_nothing_is_refused() -> None:
    with KopfRunner(["run", "-A", "-n", "x", "handlers.py"], reraise=False) as runner:
        pass
    assert runner.exit_code == 2
    assert "exclude each other" in runner.output


def test_the_log_is_as_it_was_afterwards() -> None:
    before = [logging.getLogger(name).level for name in ("", "kopf")]
    with KopfRunner(["run", "-A", "-v", "missing.py"], reraise=False) as runner:
        pass
    assert runner.exit_code == 1
    assert [logging.getLogger(name).level for name in ("", "kopf")] == before


def test_tests_find_it_where_kopf_has_it() -> None:
    testing: Any = provide().testing
    assert testing.KopfRunner is KopfRunner
