"""How built-in kinds behave, as their strategies say."""

from __future__ import annotations

import pytest

from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.kinds.strategy import Strategy
from quintant.cluster.apiserver.meta.types import DeletionPropagation
from quintant.cluster.apiserver.registry.builtin import builtin_kinds


def kind(plural: str, group: str = "") -> Kind:
    return next(
        each
        for each in builtin_kinds()
        if (each.resource.plural, each.resource.group) == (plural, group)
    )


def test_a_kind_that_says_nothing_is_updated_conditionally_and_deleted_in_the_background() -> None:
    nothing = Strategy()
    assert not nothing.update.allow_create_on_update
    assert not nothing.update.allow_unconditional_update
    assert nothing.delete.default_propagation is DeletionPropagation.BACKGROUND
    assert nothing.conversion.from_storage is None


@pytest.mark.parametrize(
    ("plural", "group", "unconditional"),
    [("pods", "", True), ("leases", "coordination.k8s.io", False), ("configmaps", "", True)],
)
def test_some_kinds_are_only_replaced_by_who_knows_their_state(
    plural: str, group: str, unconditional: bool
) -> None:
    update = kind(plural, group).strategy.update
    assert update.allow_unconditional_update is unconditional


def test_pods_alone_end_with_grace() -> None:
    graceful = [each.name for each in builtin_kinds() if each.strategy.delete.graceful]
    assert graceful == ["pods"]


def test_what_is_stored_as_another_version_has_a_way_there_and_back() -> None:
    for each in builtin_kinds():
        conversion = each.strategy.conversion
        assert (conversion.from_storage is None) == (conversion.to_storage is None)


def test_kinds_without_a_status_of_their_own_rarely_have_a_generation() -> None:
    assert kind("deployments", "apps").strategy.tracks_generation
    assert not kind("configmaps").strategy.tracks_generation
    assert kind("networkpolicies", "networking.k8s.io").strategy.tracks_generation
