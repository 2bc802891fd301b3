"""What is served is found by whatever name people call it."""

from __future__ import annotations

import pytest

from quintant.client.discovery import discover
from quintant.testing import InProcessCluster


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("pods", "pods"),
        ("pod", "pods"),
        ("po", "pods"),
        ("Pod", "pods"),
        ("deploy", "deployments.apps"),
        ("deployments.apps", "deployments.apps"),
        ("deployment.v1.apps", "deployments.apps"),
        ("crd", "customresourcedefinitions.apiextensions.k8s.io"),
    ],
)
async def test_a_kind_is_called_by_any_of_its_names(
    cluster: InProcessCluster, word: str, found: str
) -> None:
    served = await discover(cluster.client.rest)
    called = [each.resource.full_name for each in served if each.is_called(word)]
    assert called == [found]


async def test_a_kind_of_another_group_is_not_meant(cluster: InProcessCluster) -> None:
    served = await discover(cluster.client.rest)
    assert not any(each.is_called("pods.example.com") for each in served)


async def test_scope_verbs_and_preference_are_known(cluster: InProcessCluster) -> None:
    served = {each.resource.full_name: each for each in await discover(cluster.client.rest)}
    assert served["pods"].resource.namespaced
    assert not served["nodes"].resource.namespaced
    assert {"get", "list", "watch"} <= served["pods"].verbs
    assert served["pods"].preferred
