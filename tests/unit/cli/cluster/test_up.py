"""`quintant up` as a program."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest
from click.testing import CliRunner

import patience
from quintant import Config
from quintant.api.core import Node
from quintant.cli import main
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.die_with_parent import die_with_parent
from quintant.runtime.cache.client import Client
from unit.cluster.api import Requests

UP = [sys.executable, "-c", "from quintant.cli import main; main()", "up"]
ANY = ("--listen", "127.0.0.1:0")


def environ(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_RUNTIME_DIR": str(folder)}


@contextmanager
def up(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program, ended by its own id."""
    with subprocess.Popen(
        die_with_parent([*UP, *arguments]),
        env=environ(folder),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def failed(folder: Path, arguments: Sequence[str]) -> list[str]:
    """The lines of an explanation."""
    ran = subprocess.run(
        [*UP, *arguments], env=environ(folder), capture_output=True, text=True, check=False
    )
    assert ran.returncode != 0
    assert ran.stdout == ""
    return ran.stderr.splitlines()


def line(stream: object) -> str:
    text: str = stream.readline()  # type: ignore[attr-defined]
    return text.strip()


@pytest.mark.realtime
async def test_it_says_how_to_use_it_and_can_be_used(tmp_path: Path) -> None:
    with up(tmp_path, *ANY) as process:
        said = line(process.stdout)
        assert said.startswith(f"export KUBECONFIG={tmp_path}/quintant/kubeconfig-")
        assert line(process.stderr).endswith(", in memory, for this machine only")
        transport = HttpTransport(Config.load(said.partition("=")[2]))
        assert "default" in await Requests(transport).names("/api/v1/namespaces")
        await transport.close()


@pytest.mark.realtime
async def test_simulated_nodes_are_there_and_ready(tmp_path: Path) -> None:
    with up(tmp_path, *ANY, "--nodes", "3", "--zones", "2") as process:
        said = line(process.stdout)
        transport = HttpTransport(Config.load(said.partition("=")[2]))
        node = await Client(Rest(transport)).wait_for(
            Node, "sim-0003", until=lambda node: node is not None, timeout=patience.seconds(20)
        )
        assert node is not None
        assert node.metadata.labels["topology.kubernetes.io/zone"] == "zone-a"
        assert node.status.conditions[-1].status == "True"
        await transport.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_well_when_asked_to(tmp_path: Path, number: signal.Signals) -> None:
    with up(tmp_path, *ANY) as process:
        line(process.stdout)
        process.send_signal(number)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read().splitlines()[-1] == "stopped"


def test_the_way_in_can_be_printed_instead_of_written(tmp_path: Path) -> None:
    with up(tmp_path, *ANY, "--print-kubeconfig") as process:
        assert process.stdout is not None
        lines = list(takewhile(lambda text: text != "}\n", process.stdout))
    text = "".join([*lines, "}"])
    assert json.loads(text)["clusters"][0]["name"] == "quintant"
    assert list(tmp_path.iterdir()) == []


def test_a_server_for_others_comes_with_a_warning(tmp_path: Path) -> None:
    with up(tmp_path, "--listen", "0.0.0.0:0") as process:
        line(process.stdout)
        line(process.stderr)
        assert line(process.stderr).startswith("warning: 0.0.0.0:")


def test_a_taken_port_is_explained_in_three_lines(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert failed(tmp_path, ["--listen", f"127.0.0.1:{port}"]) == [
            f"cannot listen on 127.0.0.1:{port}",
            "because: another process does",
            "try: choose another port, or port 0 for any free one",
        ]


def test_a_second_cluster_in_a_folder_is_refused_in_three_lines(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with up(tmp_path, *ANY, "--data-dir", str(folder)) as process:
        assert line(process.stdout) == f"export KUBECONFIG={folder}/kubeconfig"
        what, because, hint = failed(tmp_path, [*ANY, "--data-dir", str(folder)])
    assert what == f"cannot use {folder}/cluster.db"
    assert because == "because: another server has it open"
    assert hint == "try: stop that one, or use another --data-dir"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--kubeconfig", "x", "--print-kubeconfig"],
        ["--power-safe"],
        ["--salvage"],
        ["--listen", "nowhere"],
        ["--nodes", "-1"],
        ["--zones", "0"],
        ["--stages", "/nowhere/stages.yaml"],
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, ["up", *arguments])
    assert result.exit_code != 0
    assert result.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--node-grace", "0"), "--node-grace 0: expected a duration of 2s or more, as 5s"),
        (("--node-grace", "1s"), "--node-grace 1s: expected a duration of 2s or more"),
        (("--node-grace", "soon"), "--node-grace soon: expected a duration"),
        (("--process-nodes", "Paris"), "'Paris' is no name for a further node"),
        (("--process-nodes", "paris,local"), "'local' is no name for a further node"),
        (("--process-nodes", "paris,paris"), "'paris' is no name for a further node"),
        (("--process-nodes", "paris,"), "try --process-nodes paris,berlin"),
        (("--process-nodes", "paris", "--no-node"), "--process-nodes needs the node"),
    ],
)
def test_what_makes_no_sense_of_nodes_is_refused(
    arguments: tuple[str, ...], complaint: str
) -> None:
    ran = CliRunner().invoke(main, ["up", *arguments])
    assert ran.exit_code != 0
    assert complaint in " ".join(ran.output.split())
