"""The slowest tests of all parts are one list, whatever phase took their time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from slowest_tests import duration_options, slowest_table, slowest_tests, without_durations

KIT = """
1 passed in 3.10s
============================= slowest 6 durations ==============================
2.00s setup    tests/unit/test_a.py::test_slow
1.50s call     tests/unit/test_a.py::test_slow
2.50s call     tests/unit/test_b.py::test_words[a b]
0.00s teardown tests/unit/test_a.py::test_slow
"""
CLUSTER = "3.00s call     tests/unit/cluster/test_c.py::test_other\n"


def test_phases_of_a_test_count_together_and_parts_are_one_list() -> None:
    assert slowest_tests([KIT, CLUSTER], 2) == [
        (3.5, "tests/unit/test_a.py::test_slow"),
        (3.0, "tests/unit/cluster/test_c.py::test_other"),
    ]
    assert slowest_table([KIT], 9).splitlines()[-1] == "    6.00 s  all 2"


def test_what_a_test_printed_of_that_kind_is_no_duration() -> None:
    assert slowest_tests(["it took 3.00s call me\n3.00s of waiting\n"], 9) == []


def test_what_a_part_says_beside_is_kept() -> None:
    assert without_durations(KIT) == KIT[: KIT.index("2.00s")]


def test_nothing_more_is_asked_of_pytest_unless_it_is_wanted() -> None:
    assert duration_options(0) == []


def test_pytest_prints_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_right():\n    pass\n")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *duration_options(1), "test_it.py")
    ran = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [test for _, test in slowest_tests([ran.stdout], 5)] == ["test_it.py::test_right"]
