"""What a build of the image leaves in the store of layers: no container and nothing mounted."""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

import psutil
import pytest

import patience
from foreign.errors import ProgramError
from image.build import build_image
from image.engine import Build, Engine
from image.local import local_engine

SCRIPTS = Path(__file__).parents[2] / "scripts"
PROGRAMS = ("sh", "cat", "cp", "sleep")
STAGES = """\
FROM localhost/tried-base AS base
FROM base AS tools
RUN {step}
FROM tools
COPY --from=base /bin/cat /made
"""
BUILD = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from foreign.errors import announce
from image.build import build_image
from image.engine import Build
from image.local import local_engine
folder = Path(sys.argv[2])
with local_engine(os.environ, announce) as engine:
    build_image(
        engine, Build(folder / "Containerfile", folder, "localhost/tried"), os.environ, announce
    )
"""
pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(
        not sys.platform.startswith("linux")
        or os.geteuid() != 0
        or shutil.which("buildah") is None,
        reason="buildah's mounts take Linux, root and buildah",
    ),
]


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A store of its own, with an image that has a shell."""
    own = {**os.environ, "QUINTANT_CACHE": str(tmp_path / "cache")}
    context = tmp_path / "context"
    context.mkdir()
    (context / "root.tar").write_bytes(small_root())
    (context / "Base").write_text("FROM scratch\nADD root.tar /\n")
    with local_engine(own, quiet) as engine:
        build_image(engine, Build(context / "Base", context, "localhost/tried-base"), own, quiet)
    yield own
    with local_engine(own, quiet) as engine:
        engine.output("rmi", "--all", "--force")
    assert mounted(tmp_path) == []


def quiet(_: str) -> None:
    pass


def small_root() -> bytes:
    """A shell and what it needs, of this machine."""
    wanted = [Path(found) for name in PROGRAMS if (found := shutil.which(name))]
    libraries = {
        Path(word)
        for program in wanted
        for word in subprocess.check_output(["ldd", str(program)], text=True).split()
        if word.startswith("/")
    }
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for program in wanted:
            tar.add(program.resolve(), f"bin/{program.name}")
        for library in libraries:
            tar.add(library.resolve(), str(library).lstrip("/"))
    return packed.getvalue()


def mounted(folder: Path) -> list[str]:
    lines = Path("/proc/mounts").read_text().splitlines()
    return [each for each in lines if str(folder) in each]


def wanted(folder: Path, step: str) -> Build:
    context = folder / "context"
    (context / "Containerfile").write_text(STAGES.format(step=step))
    return Build(context / "Containerfile", context, "localhost/tried")


def containers(environ: dict[str, str]) -> list[str]:
    """What is in the store, whoever uses it."""
    folder = Path(environ["QUINTANT_CACHE"]) / "image"
    store = ("--root", str(folder / "storage"), "--runroot", str(folder / "run"))
    return Engine("buildah", ("buildah", *store)).containers()


def wait_until(true: Callable[[], bool]) -> None:
    began = monotonic()
    while not true():
        assert monotonic() - began < patience.seconds(30)


def begun(folder: Path, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    """A build in a process group of its own, in the middle of a step."""
    wanted(folder, "echo > /done; sleep 3")
    line = [sys.executable, "-c", textwrap.dedent(BUILD), str(SCRIPTS), str(folder / "context")]
    process = subprocess.Popen(line, env=environ, start_new_session=True)
    parent = psutil.Process(process.pid)
    wait_until(lambda: any(is_step(each) for each in parent.children(recursive=True)))
    return process


def is_step(process: psutil.Process) -> bool:
    try:
        return process.name() == "sleep"
    except psutil.NoSuchProcess:
        return False


def test_a_build_leaves_no_container_and_nothing_mounted(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with local_engine(environ, quiet) as engine:
        build_image(engine, wanted(tmp_path, "echo > /done"), environ, quiet)
        assert engine.containers() == []
    assert mounted(tmp_path) == []


def test_a_build_that_fails_leaves_none(tmp_path: Path, environ: dict[str, str]) -> None:
    with local_engine(environ, quiet) as engine:
        with pytest.raises(ProgramError, match="cannot build the image"):
            build_image(engine, wanted(tmp_path, "false"), environ, quiet)
        assert engine.containers() == []
    assert mounted(tmp_path) == []


def test_a_build_that_is_interrupted_leaves_none(tmp_path: Path, environ: dict[str, str]) -> None:
    with begun(tmp_path, environ) as process:
        os.killpg(process.pid, signal.SIGINT)
    assert process.returncode != 0
    assert containers(environ) == []
    assert mounted(tmp_path) == []


def test_the_next_build_removes_what_a_killed_one_left(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with begun(tmp_path, environ) as process:
        os.killpg(process.pid, signal.SIGKILL)
    assert containers(environ) != []
    with local_engine(environ, quiet) as engine:
        assert engine.containers() == []
        build_image(engine, wanted(tmp_path, "echo > /done"), environ, quiet)
    assert mounted(tmp_path) == []


def test_the_next_build_waits_for_programs_of_a_killed_one(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with begun(tmp_path, environ) as process, ExitStack() as ended:
        build, *_ = psutil.Process(process.pid).children(recursive=True)
        steps = [build, *build.children(recursive=True)]
        for each in steps:
            ended.callback(each.wait)
        process.kill()
        with local_engine(environ, quiet) as engine:
            assert [each for each in steps if alive(each)] == []
            assert engine.containers() == []


def alive(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_a_container_of_somebody_else_stays_when_a_file_is_read(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with local_engine(environ, quiet) as engine:
        build_image(engine, wanted(tmp_path, "echo content > /done"), environ, quiet)
        engine.output("from", "--pull-never", "--name", "of-somebody-else", "localhost/tried")
        assert engine.read_file("localhost/tried", "/done") == b"content\n"
        with pytest.raises(subprocess.CalledProcessError):
            engine.read_file("localhost/tried", "/absent")
        assert engine.containers() == ["of-somebody-else"]
