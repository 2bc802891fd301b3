"""Checks that several processes share: every one is run once, and one process speaks for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.workers import MOST, WORTH, assigned

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
PLUGIN = f"""
    import sys

    sys.path[:0] = {[str(ROOT / "tests"), str(ROOT / "scripts")]}
    pytest_plugins = ["conformance.workers"]
"""
INI = """
    [pytest]
    asyncio_default_fixture_loop_scope = function
"""
PATIENCE = 300.0
"""Seconds for what takes three, on a machine that has much else to do."""
SERVERS = """
    import os
    import pytest

    @pytest.fixture(params=["embedded", "real"])
    def target(request):
        return request.param

    @pytest.fixture(params=["embedded", "real"])
    def cluster(request):
        return request.param

    def pytest_runtest_teardown(item):
        with open("ran", "a") as file:
            file.write(f"{os.getpid()} {item.name}\\n")
"""


@pytest.fixture
def checks(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder for checks of two servers, whose runs are written down in `ran`."""
    pytester.makeini(INI)
    pytester.makeconftest(PLUGIN + SERVERS)
    return pytester


def ran(checks: pytest.Pytester) -> list[list[str]]:
    """The checks that each process ran."""
    found: dict[str, list[str]] = {}
    for line in (checks.path / "ran").read_text().splitlines():
        pid, name = line.split(maxsplit=1)
        found.setdefault(pid, []).append(name)
    return sorted(found.values())


def collected(checks: pytest.Pytester, count: int) -> list[pytest.Item]:
    """So many checks of the embedded server, and as many of the real one."""
    return checks.getitems(
        f"""
        import pytest

        @pytest.mark.parametrize("number", range({count}))
        def test_a(target, number): pass
        """
    )


def test_few_checks_of_a_server_share_one_worker(checks: pytest.Pytester) -> None:
    workers = assigned(collected(checks, WORTH), {})
    assert [len(worker) for worker in workers] == [WORTH, WORTH]
    assert all("embedded" in item.name for item in workers[0])
    assert all("real" in item.name for item in workers[1])


def test_many_checks_of_a_server_are_assigned_once_each(checks: pytest.Pytester) -> None:
    items = collected(checks, 10 * WORTH)
    workers = assigned(items, {})
    assert len(workers) == MOST["embedded"] + MOST["real"]
    assert sorted(item.nodeid for worker in workers for item in worker) == sorted(
        item.nodeid for item in items
    )


def test_all_checks_of_a_cluster_that_was_given_share_one_worker(checks: pytest.Pytester) -> None:
    given = {"KUBECONFIG": "somewhere", "QUINTANT_DISPOSABLE": "1"}
    workers = assigned(collected(checks, 10 * WORTH), given)
    assert [len(worker) for worker in workers if "real" in worker[0].name] == [10 * WORTH]


def test_every_server_has_a_process_and_one_verdict_is_told(checks: pytest.Pytester) -> None:
    checks.makepyfile(
        """
        def test_a(target): pass
        def test_b(cluster): assert cluster == "embedded"
        def test_c(): pass
        """
    )
    outcome = checks.runpytest_subprocess(timeout=PATIENCE)
    outcome.assert_outcomes(passed=4, failed=1)
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    outcome.stdout.fnmatch_lines(["*AssertionError: assert 'real' == 'embedded'*"])
    assert ran(checks) == [
        ["test_a[embedded]", "test_b[embedded]"],
        ["test_a[real]", "test_c"],
        ["test_b[real]"],
    ]


def test_a_process_that_ends_amidst_its_checks_fails_the_run(checks: pytest.Pytester) -> None:
    checks.makepyfile(
        """
        import os

        def test_a(target):
            if target == "real":
                os._exit(0)
        """
    )
    outcome = checks.runpytest_subprocess(timeout=PATIENCE)
    assert outcome.ret == pytest.ExitCode.INTERRUPTED
    outcome.stdout.fnmatch_lines(["*worker 1 ended with code 0 and did not report 1 checks*"])


def test_the_first_failure_ends_every_process_if_asked_for(checks: pytest.Pytester) -> None:
    checks.makepyfile(
        """
        import time

        def test_a(target):
            assert target == "real"
            time.sleep(600)
        """
    )
    outcome = checks.runpytest_subprocess("-x", timeout=PATIENCE)
    outcome.assert_outcomes(failed=1)
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
