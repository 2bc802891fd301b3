"""What is wrong with a set-up is said, with what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from quintant.client.transport import ApiRequest, ApiResponse, InProcessTransport
from quintant.doctor import Finding, Verdict, machine, reach
from quintant.testing import InProcessCluster
from quintant.version import KUBERNETES

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW


@dataclass(frozen=True)
class Answering(InProcessTransport):
    """A server whose every answer has a status, and the date of its own clock."""

    status: int = 200
    ahead: timedelta = timedelta()

    async def request(self, call: ApiRequest) -> ApiResponse:
        headers = {"date": format_datetime(NOW + self.ahead, usegmt=True)}
        return ApiResponse(self.status, b'{"gitVersion":"v1.0.0"}', headers)


def _of(findings: list[Finding], subject: str) -> Finding:
    return next(finding for finding in findings if finding.subject == subject)


def _answering(cluster: InProcessCluster, **given: object) -> Answering:
    return Answering(cluster.server, **given)  # type: ignore[arg-type]


async def test_cluster_that_answers_is_named_with_its_version(cluster: InProcessCluster) -> None:
    findings = await reach(cluster.admin, "https://here", cluster.clock)
    assert _of(findings, "cluster").message == f"https://here, Kubernetes {KUBERNETES}"
    assert {finding.verdict for finding in findings} == {Verdict.GOOD}


async def test_something_that_is_no_api_server_is_wrong(cluster: InProcessCluster) -> None:
    findings = await reach(_answering(cluster, status=404), "https://here", Noon())
    assert findings == [
        Finding("cluster", Verdict.BAD, "https://here answers 404", "is it an API server?")
    ]


async def test_clock_that_differs_from_the_clusters_is_wrong(cluster: InProcessCluster) -> None:
    late = await reach(_answering(cluster, ahead=timedelta(seconds=90)), "", Noon())
    assert _of(late, "clock").message == "90 s behind the cluster's"
    fine = await reach(_answering(cluster, ahead=timedelta(seconds=3)), "", Noon())
    assert _of(fine, "clock").verdict is Verdict.GOOD


async def test_credentials_that_see_too_little_are_noted() -> None:
    strict = InProcessCluster(rbac=True)
    findings = await reach(InProcessTransport(strict.server), "", strict.clock)
    assert _of(findings, "credentials").verdict is Verdict.ODD
    wrong = await reach(InProcessTransport(strict.server, "nonsense"), "", strict.clock)
    assert Verdict.BAD in {finding.verdict for finding in wrong}


def test_kubectl_that_is_named_but_missing_is_wrong() -> None:
    finding = _of(list(machine({"KUBECTL": "/nowhere/kubectl"})), "kubectl")
    assert finding.verdict is Verdict.BAD
    assert "/nowhere/kubectl" in finding.message


def test_missing_kubectl_is_no_obstacle() -> None:
    assert _of(list(machine({"PATH": "/nowhere"})), "kubectl").verdict is Verdict.ODD
