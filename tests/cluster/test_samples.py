"""Every operator, installed as a user does, makes its sample come true in real containers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from cluster.user import User
from foreign.errors import announce
from quintant.operators import OPERATORS
from realcluster.kubectl import all_of
from realcluster.samples import Outcome

WORKERS = 4
"""So many pods are asked at once."""


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_sample_comes_true(operator: str, samples: Mapping[str, Outcome]) -> None:
    outcome = samples[operator]
    assert outcome.done, "\n".join((outcome.message, *outcome.reasons))
    announce(f"{operator}: {outcome.message}, {outcome.seconds:.1f} s")


def test_both_replicas_of_an_operator_are_on_nodes_of_their_own(
    user: User, samples: Mapping[str, Outcome]
) -> None:
    for each in OPERATORS.values():
        label = f"--selector=app.kubernetes.io/name={each.name}"
        found = asyncio.run(user.kubectl.get("pods", f"--namespace={each.namespace}", label))
        nodes = {pod["spec"]["nodeName"] for pod in found["items"]}
        assert len(nodes) == len(found["items"]) == 2, each.name


def test_no_container_runs_as_root(user: User, samples: Mapping[str, Outcome]) -> None:
    people = asyncio.run(_people(user))
    announce(f"{len(people)} containers were asked who they are")
    assert {name: ids for name, ids in people.items() if "0" in ids} == {}
    assert len(people) >= 2 * len(OPERATORS)


def test_a_pod_has_a_token_only_where_its_account_may_do_something(
    user: User, samples: Mapping[str, Outcome]
) -> None:
    pods, accounts = asyncio.run(_tokens(user))
    assert {name for name, account in pods.items() if account not in accounts} == set()
    assert len(pods) >= 2 * len(OPERATORS)


async def _tokens(user: User) -> tuple[dict[str, str], set[str]]:
    """Of every pod with a token: its account. And the accounts that roles are bound to."""
    pods = (await user.kubectl.get("pods", "--all-namespaces"))["items"]
    bindings = (await user.kubectl.get("rolebindings,clusterrolebindings", "--all-namespaces"))[
        "items"
    ]
    bound = {
        f"{subject.get('namespace', '')}/{subject['name']}"
        for each in bindings
        for subject in each.get("subjects", ())
        if subject["kind"] == "ServiceAccount"
    }
    return {
        f"{meta['namespace']}/{meta['name']}": f"{meta['namespace']}/{spec['serviceAccountName']}"
        for meta, spec in ((pod["metadata"], pod["spec"]) for pod in pods)
        if any(_has_token(volume) for volume in spec.get("volumes", ()))
    }, bound


def _has_token(volume: Mapping[str, Any]) -> bool:
    sources = volume.get("projected", {}).get("sources", ())
    return any("serviceAccountToken" in each for each in sources)


async def _people(user: User) -> dict[str, list[str]]:
    """Of every running container: uid and gid."""
    pods = (await user.kubectl.get("pods", "--all-namespaces"))["items"]
    asked = [(pod, name) for pod in pods for name in _running(pod)]
    slots = asyncio.Semaphore(WORKERS)

    async def ids(pod: dict[str, Any], container: str) -> list[str]:
        meta = pod["metadata"]
        async with slots:
            answer = await user.kubectl(
                *("exec", meta["name"], f"--namespace={meta['namespace']}"),
                *(f"--container={container}", "--", "sh", "-c", "id -u; id -g"),
            )
        return answer.split()

    answers = await all_of(ids(*each) for each in asked)
    names = (f"{pod['metadata']['name']}/{container}" for pod, container in asked)
    return dict(zip(names, answers, strict=True))


def _running(pod: dict[str, Any]) -> list[str]:
    states = pod["status"].get("containerStatuses", ())
    return [each["name"] for each in states if "running" in each["state"]]
