"""The list of Kubernetes' own conformance tests, and the table that is made of it."""

from __future__ import annotations

from pathlib import Path

from interop.e2e import kept_list
from interop.e2e.kept_list import SigTests
from interop.e2e.report import outcomes
from interop.e2e.table import table

DOCS = Path(__file__).parents[4] / "docs"
CONFORMANCE_TESTS = 446
"""Of the release that is spoken."""


def test_docs_have_the_table_of_the_list() -> None:
    assert table(kept_list.read()) in (DOCS / "embedded-server.md").read_text()


def test_every_test_stands_in_the_list_once_under_its_sig() -> None:
    kept = kept_list.read()
    names = [name for tests in kept.values() for name in tests.names]
    assert len(names) == len(set(names)) == CONFORMANCE_TESTS
    for sig, tests in kept.items():
        assert {kept_list.sig_of(name) for name in tests.names} == {sig}


def test_list_is_written_as_it_is_read(tmp_path: Path) -> None:
    kept_list.write(kept_list.read(), tmp_path / "list.yaml")
    assert (tmp_path / "list.yaml").read_bytes() == kept_list.FILE.read_bytes()


def test_reasons_are_counted_by_their_groups() -> None:
    reasons = {"image: a shell": ["[sig-a] x", "[sig-a] y"], "image: nginx": ["[sig-a] z"]}
    made = table({"a": SigTests(["[sig-a] p"], {**reasons, "fails: why": ["[sig-a] q"]})})
    assert made.splitlines()[-2:] == [
        "| a | 5 | 1 | 3 image, 1 fails |",
        "| all | 5 | 1 | 3 image, 1 fails |",
    ]


def test_results_move_tests_within_the_list() -> None:
    kept = {"a": SigTests(["[sig-a] p"], {"fails: why": ["[sig-a] q"]})}
    changed = kept_list.marked(kept, [("[sig-a] q", ""), ("[sig-a] p", "fails: now")])
    assert changed == {"a": SigTests(["[sig-a] q"], {"fails: now": ["[sig-a] p"]})}


def test_report_of_ginkgo_is_read_by_full_names(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(
        '[{"SpecReports": [{"State": "failed", "LeafNodeType": "It", "LeafNodeText": "works",'
        ' "ContainerHierarchyTexts": ["[sig-a]", "Thing"], "RunTime": 1500000000,'
        ' "Failure": {"Message": "why"}},'
        ' {"State": "passed", "LeafNodeType": "SynchronizedBeforeSuite"}]}]'
    )
    (only,) = outcomes(report)
    assert (only.name, only.seconds, only.message) == ("[sig-a] Thing works", 1.5, "why")
    assert not only.passed
    assert not [*outcomes(tmp_path / "absent.json")]
