"""One reconcile as a function: what comes out of it, whatever it does."""

from __future__ import annotations

from typing import Any

import pytest

from quintant import Context, Custom, Model, resource
from quintant.core.errors import Terminal
from quintant.testing import named, reconcile_once


class Spec(Model):
    text: str = ""


@resource(group="demo.dev", version="v1")
class Kite(Custom[Spec, Spec]): ...


KITE = Kite(metadata=named("a", labels={"tail": "long"}), spec=Spec())


@pytest.mark.parametrize("error", [ValueError("boom"), Terminal("never")])
def test_what_a_reconciler_raises_is_raised_as_it_is(error: Exception) -> None:
    async def fails(kite: Kite, ctx: Context[Kite]) -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        reconcile_once(fails, KITE)


def test_reconciler_that_changes_a_cached_object_is_found_out() -> None:
    async def scribbles(kite: Any, ctx: Context[Kite]) -> None:
        kite.metadata.labels["tail"] = "short"

    with pytest.raises(AssertionError, match="Kite default/a was changed inside the cache"):
        reconcile_once(scribbles, KITE)


def test_reconciler_that_only_looks_is_not() -> None:
    async def looks(kite: Kite, ctx: Context[Kite]) -> None:
        assert kite.metadata.labels == {"tail": "long"}

    assert reconcile_once(looks, KITE).writes == ()
