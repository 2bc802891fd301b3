"""What looks at a made cluster mean for its Cluster."""

from __future__ import annotations

from typing import Any

from quintant.core import codec
from quintant.operators.infra.api import Cluster
from quintant.operators.infra.observed.answers import NodeLook, TargetLook
from quintant.operators.infra.observer.observed import TargetNews, TargetObserved
from quintant.operators.infra.observer.plan import AGAIN_SECONDS, news, plan
from quintant.operators.infra.plan.decision import NOTHING
from testbeds.infra import template

LOST = TargetLook(failure="Unreachable", message="refused")
WELL = TargetLook(nodes=(NodeLook("a", True),))


def cluster(**spec: Any) -> Cluster:
    body = {"metadata": {"name": "one", "namespace": "default"}, "spec": spec}
    return codec.decode(Cluster, codec.encode(body))


def claimed(known: TargetNews | None, **spec: Any) -> dict[str, tuple[str, str]]:
    """Status and reason of every condition that is claimed."""
    planned = plan(TargetObserved(cluster(**spec), True, known))
    return {each.type: (str(each.status), each.reason) for each in planned.change.claims}


def test_nothing_is_said_before_the_first_look() -> None:
    assert plan(TargetObserved(cluster(tosca=template()), True)).change == NOTHING


def test_silence_is_believed_at_the_threshold() -> None:
    once = news(None, LOST, 2)
    assert claimed(once)["APIServerReachable"] == ("Unknown", "Degraded")
    assert claimed(news(once, LOST, 2))["APIServerReachable"] == ("False", "Unreachable")


def test_first_answer_after_silence_is_a_reconnection() -> None:
    back = news(news(None, LOST, 1), WELL, 1)
    assert claimed(back)["APIServerReachable"] == ("True", "Reconnected")
    assert claimed(news(back, WELL, 1))["APIServerReachable"] == ("True", "Reachable")


def test_cluster_without_nodes_is_healthy_unless_nodes_are_required() -> None:
    empty = news(None, TargetLook(), 3)
    assert claimed(empty)["NodesHealthy"] == ("True", "Healthy")
    required = claimed(empty, observer={"requireNodes": True})
    assert required["NodesHealthy"] == ("False", "NodesNotReady")


def test_given_kubeconfig_is_read_again_and_one_of_ours_is_watched() -> None:
    given = plan(TargetObserved(cluster(), True)).conclusion.again
    assert given is not None
    assert given.seconds == AGAIN_SECONDS
    assert plan(TargetObserved(cluster(), False)).conclusion.again is None
    assert plan(TargetObserved(cluster(tosca=template()), True)).conclusion.again is None
