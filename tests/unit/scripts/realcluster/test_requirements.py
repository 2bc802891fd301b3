"""A machine that cannot run a real cluster: what it lacks is named, and whether that is a failure.

The commands are run where one thing is really taken away: the user, a right, a mount.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from realcluster.requirements import Machine, missing

ROOT = Path(__file__).parents[4]
CODES = """
from realcluster.__main__ import main
print(main(["test"], {}), main(["test"], {"QUINTANT_REQUIRED": "1"}))
"""
WITHOUT_CGROUPS = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'
WITHOUT_RIGHT = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
WITHOUT = {
    "root": ("unshare", "--user"),
    "cgroups": ("unshare", "--mount", "sh", "-c", WITHOUT_CGROUPS, "sh"),
    "namespaces": WITHOUT_RIGHT,
}
"""What takes something away from a command that root starts."""


@pytest.mark.parametrize(
    ("machine", "line"),
    [
        (Machine(platform="darwin", uid=7), "Linux: this is darwin"),
        (Machine(uid=7, namespaces_error="not permitted"), "root: this is user 7"),
        (
            Machine(absent_packages=("runc", "nftables")),
            "packages: apt-get install --no-install-recommends runc nftables",
        ),
        (
            Machine(absent_controllers=("cpu", "pids"), cgroups_writable=False),
            "cgroups: no controller cpu, pids in /sys/fs/cgroup",
        ),
        (Machine(cgroups_writable=False), "cgroups: /sys/fs/cgroup is read-only"),
        (
            Machine(bridge_filtered=False),
            "/proc/sys/net/bridge/bridge-nf-call-iptables: modprobe br_netfilter",
        ),
        (Machine(namespaces_error="not permitted"), "namespaces: not permitted"),
    ],
)
def test_what_is_missing_is_named_and_what_it_rules_out_is_not(machine: Machine, line: str) -> None:
    assert missing(machine) == (line,)


def test_everything_that_is_missing_is_said_at_once() -> None:
    machine = Machine(absent_packages=("runc",), cgroups_writable=False, namespaces_error="no")
    assert [line.partition(":")[0] for line in missing(machine)] == [
        "packages",
        "cgroups",
        "namespaces",
    ]


def test_a_machine_that_has_everything_lacks_nothing() -> None:
    assert missing(Machine()) == ()


@pytest.mark.skipif(sys.platform != "linux", reason="it takes namespaces away")
@pytest.mark.parametrize("absent", WITHOUT)
def test_the_command_says_what_is_missing_and_fails_only_where_tests_are_required(
    absent: str,
) -> None:
    done = command(() if absent == "root" and os.geteuid() else able(WITHOUT[absent]))
    assert done.stdout == "0 1\n", done.stderr
    assert f"\n  {absent}: " in done.stderr


def able(prefix: Sequence[str]) -> Sequence[str]:
    """A prefix of commands that works here: who is not root has nothing to take away."""
    if shutil.which(prefix[0]) is None or subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip(f"{prefix[0]} cannot take it away here")
    return prefix


def command(prefix: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """`make test-cluster`, once where tests are not required, once where they are."""
    return subprocess.run(
        [*prefix, sys.executable, "-c", CODES],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT / 'tests'}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
