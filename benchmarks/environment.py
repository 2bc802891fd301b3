"""What an operator's environment takes: the wheel without extras, on disk and idle.

A fresh virtual environment without pip, as an image has it, gets the wheel of this source and what
it requires, with the versions of constraints.txt; a greeter runs from it against an embedded one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.embedded import embedded
from benchmarks.report import Budget, Table
from benchmarks.sizes import Sizes
from processes.running import running_command
from processes.usage import MEGABYTE, usage

ROOT = Path(__file__).parents[1]
GREETER = ROOT / "examples/01_greeter.py"
# An idle operator has read its kinds and made its first connections by then.
IDLE_SECONDS = 8.0
LARGEST = 4
"""Packages that are named by themselves."""
BUDGET_DISK_MB, BUDGET_MEMORY_MB = 100.0, 45.0
METHOD = (
    "the wheel of this source and what it requires, in a fresh virtual environment without pip, "
    "with its modules compiled; sizes are what files take on the disk. The greeter of the first "
    "example runs from it with metrics and probes against `quintant up --api-only`; its resident "
    "memory {seconds:g} s after its start."
)


def run(sizes: Sizes, say: Callable[[str], None]) -> Iterator[Table]:
    """Install, weigh and run it."""
    with tempfile.TemporaryDirectory(prefix="quintant-bench-") as folder:
        say("environment: wheel and packages")
        python = install(Path(folder))
        packages = _packages(Path(folder) / "environment")
        say("environment: idle")
        memory = _idle(python)
    disk = sum(packages.values())
    largest = sorted(packages.items(), key=lambda item: -item[1])[:LARGEST]
    rest = disk - sum(size for _, size in largest)
    named = [*largest, ("the rest", rest)]
    yield Table(
        "The environment of an operator: the wheel without extras",
        METHOD.format(seconds=IDLE_SECONDS),
        ("", "megabytes"),
        [
            ("on disk", f"{disk:.0f} MB"),
            *((f"of it {name}", f"{size:.0f} MB") for name, size in named),
            ("idle, resident", f"{memory:.0f} MB"),
        ],
        [
            Budget(f"at most {BUDGET_DISK_MB:g} MB on disk", f"{disk:.0f} MB",
                   disk <= BUDGET_DISK_MB),
            Budget(f"at most {BUDGET_MEMORY_MB:g} MB idle", f"{memory:.0f} MB",
                   memory <= BUDGET_MEMORY_MB),
        ],
    )  # fmt: skip


def install(folder: Path) -> Path:
    """The Python of an environment below a folder that has the wheel, and no pip."""
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    wheel = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    subprocess.run([*pip, *wheel], check=True)
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python, (built,) = environment / "bin/python", folder.glob("quintant-*.whl")
    pinned = ("-c", str(ROOT / "constraints.txt"))
    subprocess.run([*pip, "--python", str(python), "install", *pinned, str(built)], check=True)
    return python


def _packages(environment: Path) -> dict[str, float]:
    """Megabytes by package; what belongs to none is the environment's own."""
    found: dict[str, float] = {}
    (site,) = environment.glob("lib/python*/site-packages")
    for path in environment.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        below = path.relative_to(site).parts if path.is_relative_to(site) else ("scripts",)
        name = below[0].partition("-")[0].removesuffix(".libs")
        found[name] = found.get(name, 0.0) + path.stat().st_blocks * 512 / MEGABYTE
    return found


def _idle(python: Path) -> float:
    """Megabytes of an operator whose kinds are installed, as they are in a cluster."""
    with embedded("--api-only") as target:
        _resident(python, target.kubeconfig, "--install-crds")
        return _resident(python, target.kubeconfig)


def _resident(python: Path, kubeconfig: Path, *options: str) -> float:
    words = ("run", str(GREETER), "--kubeconfig", str(kubeconfig), *options)
    ports = ("--metrics", "127.0.0.1:0", "--probes", "127.0.0.1:0")
    command = [str(python), "-m", "quintant", *words, *ports]
    apart = {name: "" for name in os.environ if name.startswith("PYTHON")}
    with running_command(command, env=apart) as process:
        time.sleep(IDLE_SECONDS)
        assert process.poll() is None, "the operator ended"
        return usage(process.pid).rss / MEGABYTE
