"""`quintant check`, and what `quintant up --salvage` does about what it finds."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from quintant.cli import main
from unit.cli.cluster.test_up import ANY, failed, line, up
from unit.cluster.apiserver.storage.stored_rows import damage, sample, store, store_format_1

ROWS = sample(20)
HIT = "configmaps/default/o0004"


def test_a_good_folder_is_said_to_be_good(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["check", str(store(tmp_path, ROWS))])
    assert (ran.exit_code, ran.output) == (
        0,
        "20 objects, all as they were written (format 2)\n",
    )


def test_a_folder_of_format_1_is_said_to_have_no_checksums(tmp_path: Path) -> None:
    ran = CliRunner().invoke(main, ["check", str(store_format_1(tmp_path, ROWS))])
    assert ran.exit_code == 0
    assert ran.output.endswith("it has no checksums yet: the next start adds them\n")


def test_damage_is_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    damage(store(tmp_path, ROWS), HIT)
    ran = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert ran.exit_code == 1
    assert ran.stdout.splitlines() == [
        "damaged: configmaps default/o0004: its checksum is of something else"
    ]
    assert ran.stderr.splitlines() == [
        f"19 objects are good; restore a copy of {tmp_path}, or go on without the others: "
        f"quintant up --data-dir {tmp_path} --salvage"
    ]


def test_a_cluster_with_a_damaged_object_starts_only_without_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    arguments = (*ANY, "--api-only", "--data-dir", str(folder))
    with up(tmp_path, *arguments) as process:
        line(process.stdout)
    damage(folder, "namespaces/default")
    what, because, _ = failed(tmp_path, arguments)
    assert what == f"cannot use {folder}/cluster.db"
    assert because.startswith("because: namespaces default: its checksum")
    with up(tmp_path, *arguments, "--salvage") as process:
        assert line(process.stderr).startswith("left out: namespaces default: its checksum")
        assert line(process.stderr) == f"what was there is kept in {folder}/corrupt-1"
        assert line(process.stdout).startswith("export KUBECONFIG=")
