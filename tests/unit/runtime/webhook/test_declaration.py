from __future__ import annotations

from typing import Any

import pytest

from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.core.object import Object
from quintant.core.resource import resource
from quintant.runtime.webhook import Admission, Spoke, WebhookDeclarations, WebhookSettings
from unit.runtime.webhook.kinds import Gate


async def allow(_old: Object | None, _new: Object | None, _: Admission) -> None:
    """Anything goes."""


async def keep(new: Any, _: Admission) -> Any:
    return new


def same(obj: Any) -> Any:
    return obj


def test_paths_and_names_follow_kubebuilder() -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Gate, allow)
    webhooks.mutating(Gate, keep)
    webhooks.mutating(ConfigMap, keep)
    assert [(hook.path, hook.name) for hook in webhooks.hooks] == [
        ("/mutate--v1-configmap", "mconfigmap-v1.kb.io"),
        ("/mutate-gates-example-com-v1-gate", "mgate-v1.kb.io"),
        ("/validate-gates-example-com-v1-gate", "vgate-v1.kb.io"),
    ]


def test_paths_and_names_may_be_given() -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Gate, allow, path="/gates", name="gates.example.com")
    assert [(hook.path, hook.name) for hook in webhooks.hooks] == [("/gates", "gates.example.com")]


def test_a_manager_knows_whether_a_server_is_needed() -> None:
    webhooks = WebhookDeclarations("gates")
    assert not webhooks
    webhooks.converting(Gate, {"v1alpha1": Spoke(same, same)})
    assert webhooks
    assert webhooks.conversions[("gates.example.com", "Gate")].hub.version == "v1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "webhook at /validate-gates-example-com-v1-gate"),
        ({"path": "/other"}, "webhook vgate-v1.kb.io"),
        ({"path": "/convert", "name": "other.example.com"}, "webhook at /convert"),
        ({"path": "gates", "name": "other.example.com"}, "'gates' is not a path"),
    ],
)
def test_a_declaration_that_cannot_be_told_from_another_is_refused(
    options: dict[str, str], message: str
) -> None:
    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Gate, allow)
    with pytest.raises(ConfigError, match=message):
        webhooks.validating(Gate, allow, **options)  # type: ignore[arg-type]


def test_a_deletion_cannot_be_mutated() -> None:
    with pytest.raises(ConfigError, match="cannot mutate Gate on DELETE"):
        WebhookDeclarations("gates").mutating(Gate, keep, operations=("DELETE",))


def test_a_kind_is_converted_once_and_its_hub_is_no_spoke() -> None:
    webhooks = WebhookDeclarations("gates")
    with pytest.raises(ConfigError, match="Gate v1 cannot be both hub and spoke"):
        webhooks.converting(Gate, {"v1": Spoke(same, same)})
    webhooks.converting(Gate, {})
    with pytest.raises(ConfigError, match="two declarations of the conversion of Gate"):
        webhooks.converting(Gate, {})


@pytest.mark.parametrize("seconds", [0, 31])
def test_a_timeout_that_no_api_server_accepts_is_refused(seconds: int) -> None:
    with pytest.raises(ConfigError, match="1 to 30 seconds"):
        WebhookSettings(timeout_seconds=seconds)


def test_what_is_not_a_kind_cannot_be_reviewed() -> None:
    class Nothing(Object):
        """No kind."""

    with pytest.raises(ConfigError, match="Nothing is not a kind"):
        WebhookDeclarations("gates").validating(Nothing, allow)


def test_kinds_of_the_same_name_need_names_of_their_own() -> None:
    @resource(group="other.example.com", version="v1", kind="Gate")
    class Other(Object):
        """A namesake."""

    webhooks = WebhookDeclarations("gates")
    webhooks.validating(Gate, allow)
    with pytest.raises(ConfigError, match=r"vgate-v1\.kb\.io"):
        webhooks.validating(Other, allow)
