"""Write the lock files of the image: what it installs, pinned, with a hash for each platform.

    python scripts/hashes.py

deploy/requirements.txt is what is in the image, deploy/build-requirements.txt what only its build
needs. The versions are those of constraints.txt, the hashes those of the wheels that pip finds
today for Linux on x86-64 and arm64, which are the platforms of the image. A wheel that is exchanged
later does not install any more. Run it when constraints.txt changes; tests/security/test_image.py
notices when it was not.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "deploy" / "requirements.txt"
BUILD = ROOT / "deploy" / "build-requirements.txt"
PYTHON = "3.11"
"""Of the image's base."""
EXTRAS = ("cosmos", "devices", "klight", "otel")
MACHINES = ("x86_64", "aarch64")
GLIBCS = ("manylinux2014", "manylinux_2_17", "manylinux_2_28", "manylinux_2_34")
"""Debian's is newer than all of them."""
HEADER = f"# Written by scripts/hashes.py for Linux on {' and '.join(MACHINES)}; do not edit.\n"


def wanted() -> dict[Path, list[str]]:
    """What the image installs, by lock file: Quintant's own requirements, and what builds it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = project["project"]["optional-dependencies"]
    extras = [each for name in EXTRAS for each in declared[name]]
    return {
        RUNTIME: [*project["project"]["dependencies"], *extras],
        BUILD: project["build-system"]["requires"],
    }


def found(machine: str, requirements: list[str]) -> dict[str, str]:
    """The hash of each wheel for a machine, by `name==version`."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        platforms = [word for each in GLIBCS for word in ("--platform", f"{each}_{machine}")]
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed"),
                *("--only-binary=:all:", "--target", folder, "--python-version", PYTHON),
                *(*platforms, "--report", str(report), "-c", str(ROOT / "constraints.txt")),
                *requirements,
            ],
            check=True,
        )
        installed = json.loads(report.read_text())["install"]
    return {
        f"{each['metadata']['name'].lower()}=={each['metadata']['version']}": each["download_info"][
            "archive_info"
        ]["hashes"]["sha256"]
        for each in installed
    }


def main() -> None:
    """Write both files."""
    for target, requirements in wanted().items():
        hashes: dict[str, set[str]] = {}
        for machine in MACHINES:
            for pin, digest in found(machine, requirements).items():
                hashes.setdefault(pin, set()).add(digest)
        lines = [
            " \\\n    ".join([pin, *(f"--hash=sha256:{each}" for each in sorted(digests))])
            for pin, digests in sorted(hashes.items())
        ]
        target.write_text(HEADER + "\n".join(lines) + "\n")
        print(f"wrote {target.relative_to(ROOT)}: {len(lines)} packages")


if __name__ == "__main__":
    main()
