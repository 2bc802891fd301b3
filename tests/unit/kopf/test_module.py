"""`import kopf` finds what is here, and what is not here is refused by its name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from quintant.cli import main
from quintant.kopf.module import UNSUPPORTED, Unsupported, provide

kopf = provide()
HANDLERS = """
import kopf
from kopf import on

@kopf.on.create("kopfexamples")
def create(spec: kopf.Spec, patch: kopf.Patch, logger: kopf.Logger, **_):
    pass
"""


def test_every_name_that_is_promised_is_there() -> None:
    for name in kopf.__all__:
        assert getattr(kopf, name) is not None


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_what_is_not_supported_is_refused_by_name(name: str) -> None:
    with pytest.raises(Unsupported, match=f"kopf.{name}"):
        getattr(kopf, name)


def test_what_kopf_does_not_have_is_missing_as_in_any_module() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        kopf.nonsense  # noqa: B018


def test_kopf_itself_is_neither_needed_nor_loaded(tmp_path: Path) -> None:
    """In a process of its own, which would notice kopf's inner modules and its libraries."""
    path = tmp_path / "handlers.py"
    path.write_text(HANDLERS)
    program = (
        "import sys; from quintant.kopf.module import provide; provide();"
        "from quintant.runtime.manager.loading import load;"
        f"load({str(path)!r});"
        "wrong = [n for n in sys.modules if n.startswith(('kopf._', 'aiohttp'))];"
        "assert not wrong, wrong;"
        "from quintant.kopf.declare.registry import get_default_registry;"
        "assert len(get_default_registry()) == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["run", *map(str, arguments)])
    return result.exit_code, result.output


def test_a_file_that_uses_what_is_missing_does_not_load(tmp_path: Path) -> None:
    path = tmp_path / "handlers.py"
    path.write_text("from kopf import spawn_tasks\n")
    code, output = run("--kopf", path, "--kubeconfig", tmp_path / "none")
    assert code == 1
    assert "kopf.spawn_tasks" in output


@pytest.mark.parametrize("wrong", ["--install-crds", "--webhook-url=https://x", "--leader-elect"])
def test_options_of_managers_are_refused(tmp_path: Path, wrong: str) -> None:
    code, output = run("--kopf", tmp_path / "handlers.py", wrong)
    assert code == 2
    assert "means nothing with --kopf" in output


def test_options_of_kopf_are_refused_for_a_manager(tmp_path: Path) -> None:
    code, output = run(tmp_path / "a.py", "--standalone")
    assert code == 2
    assert "--standalone is for --kopf alone" in output
