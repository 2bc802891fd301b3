"""A planned call reaches the provider as it was planned."""

from __future__ import annotations

from typing import Any

import pytest

from quintant.core.errors import NotLeader
from quintant.operators.infra.act.perform import call_provider, fenced_work
from quintant.operators.infra.builders import CREATE_TOKEN
from quintant.operators.infra.observed.answers import ProviderError
from quintant.operators.infra.observed.marks import InfrastructureMarks
from quintant.operators.infra.plan.decision import ProviderCall, ProviderMethod


class RecordingProvider:
    """Notes how it was called, and answers with the method's name."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.carries = InfrastructureMarks("t-1")

    def __getattr__(self, name: str) -> Any:
        async def method(*args: Any, **kwargs: Any) -> str:
            self.calls.append((name, args, kwargs))
            return name

        return method

    async def marks(self, id: str) -> InfrastructureMarks:
        return self.carries


TEMPLATE = {"tosca_definitions_version": "1.0", "metadata": {CREATE_TOKEN: "t-1"}}


@pytest.mark.parametrize(
    ("call", "arguments", "options"),
    [
        (ProviderCall(ProviderMethod.PLAN, template=TEMPLATE), (TEMPLATE,), {}),
        (ProviderCall(ProviderMethod.CREATE, template=TEMPLATE), (TEMPLATE,), {}),
        (
            ProviderCall(ProviderMethod.UPDATE, "inf-1", TEMPLATE, seconds=90.0),
            ("inf-1", TEMPLATE, 90.0),
            {},
        ),
        (ProviderCall(ProviderMethod.RECONFIGURE, "inf-1"), ("inf-1",), {}),
        (ProviderCall(ProviderMethod.REPLACE, "inf-1", machines=("2",)), ("inf-1", ("2",)), {}),
        (ProviderCall(ProviderMethod.DELETE, "inf-1", force=True), ("inf-1",), {"force": True}),
        (
            ProviderCall(ProviderMethod.DELETE_NOW, "inf-1", seconds=60.0),
            ("inf-1", 60.0),
            {"force": False},
        ),
    ],
)
async def test_call_reaches_the_method_of_its_name(
    call: ProviderCall, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    provider: Any = RecordingProvider()
    await call_provider(provider, call)
    assert provider.calls == [(call.method.name.lower(), arguments, options)]


async def test_only_a_creation_has_an_id_for_an_answer() -> None:
    provider: Any = RecordingProvider()
    created = await call_provider(provider, ProviderCall(ProviderMethod.CREATE, template=TEMPLATE))
    assert created == "create"
    assert await call_provider(provider, ProviderCall(ProviderMethod.PLAN)) is None


async def test_answer_that_names_what_was_not_created_is_not_believed() -> None:
    provider: Any = RecordingProvider()
    for marks in (InfrastructureMarks(), InfrastructureMarks("t-2", "u-1", "us")):
        provider.carries = marks
        with pytest.raises(ProviderError) as lost:
            await call_provider(provider, ProviderCall(ProviderMethod.CREATE, template=TEMPLATE))
        # Something was made, and is looked for.
        assert lost.value.failure.applied is None


async def test_a_long_call_is_not_sent_for_a_cluster_that_is_another_process_s_by_now() -> None:
    def fence() -> None:
        raise NotLeader("range 7 of epoch 12 is not held any more")

    provider: Any = RecordingProvider()
    call = ProviderCall(ProviderMethod.UPDATE, "inf-1", TEMPLATE, seconds=90.0)
    with pytest.raises(ProviderError) as refused:
        await fenced_work(fence, provider, call)()
    assert provider.calls == []
    assert refused.value.failure.applied is False
    await fenced_work(lambda: None, provider, call)()
    assert len(provider.calls) == 1


def test_template_of_a_call_is_in_no_log() -> None:
    assert "tosca" not in repr(ProviderCall(ProviderMethod.CREATE, template=TEMPLATE))
