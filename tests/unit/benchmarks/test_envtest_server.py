"""Promises of benchmarks.envtest_server."""

from __future__ import annotations

from benchmarks.envtest_server import count_writes

METRICS = """\
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",resource="configmaps",verb="APPLY"} 3
apiserver_request_total{code="201",resource="greeters",subresource="status",verb="PUT"} 1e+03
apiserver_request_total{code="200",resource="greeters",verb="LIST"} 7
apiserver_request_total{code="200",resource="leases",verb="PUT"} 9
apiserver_request_total_other{resource="configmaps",verb="POST"} 5
"""


def test_writes_are_counted_and_neither_reads_nor_what_the_server_does_by_itself() -> None:
    assert count_writes(METRICS) == 1003
