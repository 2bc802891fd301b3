"""`quintant new`: what it makes runs as it is, and is refused where it cannot be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quintant.cli import main
from quintant.operators import OPERATORS

WHEEL = "quintant-9.9.0-py3-none-any.whl"
TESTS = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
RUFF = (sys.executable, "-m", "ruff")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(WHEEL).write_bytes(b"not looked into")


def new(*words: str) -> Result:
    return CliRunner().invoke(main, ["new", *words])


def test_the_tests_of_a_new_project_pass() -> None:
    """A crash is among them, and two whole explorations, one with calls of something outside."""
    assert new("pet-shop", "--from", WHEEL).exit_code == 0
    done = subprocess.run(TESTS, cwd="pet-shop", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


CONSOLE_TEST = """
from quintant.cli.look.console import console_systems
from quintant.testing import InProcessCluster, named
from testbeds.console import running_console

from pet_shop.api import PetShop, PetShopSpec
from pet_shop.controller import make_manager


async def test_the_panel_is_on_the_console(cluster: InProcessCluster) -> None:
    async with running_console(cluster, known=console_systems()) as console:
        overview = await console.rows("overview")
        assert overview["system/pet-shop"]["install"] == "make manifests | kubectl apply -f -"
        await cluster.run(make_manager())
        await cluster.create(PetShop(metadata=named("a"), spec=PetShopSpec(message="hello")))
        await cluster.advance(5)
        (row,) = (await console.rows("panel/pet-shop")).values()
        assert (row["kind"], row["name"], row["state"]) == ("PetShop", "a", "well")
        assert row["cells"] == ["hello"]
        assert (await console.rows("overview"))["system/pet-shop"]["counts"]["well"] == 1
"""
TESTBEDS = Path(__file__).parents[3]


def installed(project: Path, entry: str) -> dict[str, str]:
    """The variables of a process in which a project is installed, with one entry point."""
    about = project / "installed" / "pet_shop-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pet-shop\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(f"[quintant.panels]\npet-shop = {entry}\n")
    path = os.pathsep.join([str(about.parent), str(project / "src"), str(TESTBEDS)])
    return {**os.environ, "PYTHONPATH": path}


def test_a_new_operator_is_on_the_console_with_its_panel() -> None:
    assert new("pet-shop", "--from", WHEEL).exit_code == 0
    project = Path("pet-shop").absolute()
    names = tomllib.loads((project / "pyproject.toml").read_text())["project"]["entry-points"]
    env = installed(project, names["quintant.panels"]["pet-shop"])
    (project / "tests" / "test_console.py").write_text(CONSOLE_TEST)
    done = subprocess.run(
        [*TESTS, "tests/test_console.py"],
        cwd=project, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("entry", "reason"),
    [("pet_shop.nowhere:PANEL", "ModuleNotFoundError"), ("pet_shop.api:PetShop", "SystemPanel")],
)
def test_a_panel_that_cannot_be_loaded_is_said_and_the_others_are_shown(
    entry: str, reason: str
) -> None:
    assert new("pet-shop", "--from", WHEEL).exit_code == 0
    program = "from quintant.cli.look.console import console_systems as c; print(len(c()))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=installed(Path("pet-shop").absolute(), entry),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{len(OPERATORS)}\n"
    first, why, hint = done.stderr.splitlines()
    assert first == "cannot show the panel 'pet-shop'"
    assert reason in why
    assert hint.startswith("try: ")


def test_a_new_project_is_formatted_and_has_nothing_for_a_linter() -> None:
    assert new("pet-shop", "--from", WHEEL).exit_code == 0
    for words in (("check", "--select", "E,F,I,UP,B"), ("format", "--check")):
        done = subprocess.run([*RUFF, *words, "pet-shop"], capture_output=True, check=False)
        assert done.returncode == 0, done.stdout


def test_every_file_speaks_of_the_project() -> None:
    assert new("pet-shop", "--group", "shops.dev", "--from", WHEEL).exit_code == 0
    files = [path for path in Path("pet-shop").rglob("*") if path.is_file()]
    texts = {str(path): path.read_text() for path in files if path.suffix != ".whl"}
    assert [path for path, text in texts.items() if re.search(r"\{\{\w+\}\}", text)] == []
    assert 'group="shops.dev"' in texts["pet-shop/src/pet_shop/api.py"]
    assert "class PetShop(" in texts["pet-shop/src/pet_shop/api.py"]
    assert Path("pet-shop", ".gitignore").is_file()


QUINTANT = """#!/bin/sh
exec {python} -c 'from quintant.cli import main; main()' "$@"
"""


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """A task of the project `shop`, with this Quintant, and no virtual environment to be made."""
    program = Path("shop/.venv/bin/quintant")
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(QUINTANT.format(python=sys.executable))
    program.chmod(0o755)
    (program.parents[1] / ".ready").touch()
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *words],
        cwd="shop",
        env={**env, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ci_of_a_new_project_ends_where_a_definition_breaks_its_last_release() -> None:
    assert new("shop", "--from", WHEEL).exit_code == 0
    steps = Path("shop/.github/workflows/ci.yaml").read_text()
    assert "- run: make test\n" in steps
    assert "- run: make crd-diff\n" in steps
    assert make("crd-diff").returncode == 0, "nothing was released yet"
    assert make("released").returncode == 0
    assert make("crd-diff").stdout.endswith("shops.shop.example.com: unchanged\n")
    api = Path("shop/src/shop/api.py")
    api.write_text(api.read_text().replace("max_length=256", "max_length=6"))
    done = make("crd-diff")
    assert done.returncode != 0
    assert "breaking         v1.spec.message maxLength: 6 instead of 256" in done.stdout


def test_quintant_is_installed_from_the_wheel_beside_and_never_by_its_name() -> None:
    assert new("shop", "--from", WHEEL).exit_code == 0
    assert Path("shop", "vendor", WHEEL).read_bytes() == b"not looked into"
    installs = [
        line
        for name in ("Makefile", "Containerfile")
        for line in Path("shop", name).read_text().splitlines()
        if "pip install" in line
    ]
    assert len(installs) == 3
    assert not any(re.search(r"install.* quintant\b", line) for line in installs)
    assert '"quintant==9.9.0"' in Path("shop", "pyproject.toml").read_text()


def test_the_manifests_of_a_new_project_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert new("shop", "--from", WHEEL).exit_code == 0
    words = ("manifests", "shop.controller", "--image", "shop:1")
    program = "from quintant.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "PYTHONPATH": "shop/src"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "- run\n        - shop.controller\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("Shop",), "small letters, digits and dashes"),
        (("-x",), "No such option"),
        (("a/b",), "small letters, digits and dashes"),
        (("there",), "there is something of that name already"),
        (("shop", "--from", "text"), "it is neither a wheel of Quintant nor a folder"),
    ],
)
def test_what_cannot_be_made_is_explained(words: tuple[str, ...], why: str) -> None:
    Path("there").mkdir()
    Path("text").write_text("")
    done = new(*words)
    assert done.exit_code != 0
    assert why in done.output
    assert not Path("shop", "Makefile").exists()


@pytest.mark.parametrize(
    "group",
    [
        "Shops.dev", "shops..dev", ".dev", "shops.dev.", "a_b.dev", "shops", "-a.dev", "a" * 254,
        'x.dev"\nimport os', "../x.dev", f"{'a' * 64}.dev", "",
    ],
)  # fmt: skip
def test_a_group_that_no_server_would_take_is_refused_before_anything_is_written(
    group: str,
) -> None:
    done = new("shop", "--group", group, "--from", WHEEL)
    assert done.exit_code == 1
    assert [line.split()[0] for line in done.output.splitlines()] == ["cannot", "because:", "try:"]
    assert not Path("shop").exists()
