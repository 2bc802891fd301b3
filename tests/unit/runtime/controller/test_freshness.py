"""Promises of quintant.runtime.controller.freshness."""

from __future__ import annotations

import math

import pytest
from structlog.testing import capture_logs

from quintant import KeyContext, Manager, Request
from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.runtime.cache.staleness import CacheView, ControllerViews
from quintant.runtime.controller.freshness import HELD_SECONDS, FreshnessGuard
from quintant.testing import InProcessCluster, named


class View(CacheView):
    """A view that is as old as the test says."""

    def __init__(self, kind: str, behind: float) -> None:
        self.kind, self.behind, self.asked = kind, behind, 0

    def rank(self) -> float:
        self.asked += 1
        return self.behind


class Guarded:
    def __init__(self, *views: View, within: float = 60) -> None:
        self.now, self.held = 0.0, 0
        self.guard = FreshnessGuard(
            "c", ControllerViews(lambda: views), within, lambda: self.now, self._hold
        )

    def _hold(self) -> None:
        self.held += 1


def test_a_key_waits_while_any_view_is_older_and_is_counted() -> None:
    guarded = Guarded(View("pods", 3), View("nodes", 61))
    assert guarded.guard.wait() == HELD_SECONDS
    assert guarded.held == 1


def test_what_was_fresh_is_asked_about_again_only_when_it_may_be_too_old() -> None:
    view = View("pods", 20)
    guarded = Guarded(view)
    assert [guarded.guard.wait() for _ in range(100)] == [0.0] * 100
    assert view.asked <= 2
    guarded.now, view.behind = 40.5, 60.5
    assert guarded.guard.wait() == HELD_SECONDS


def test_a_view_of_which_nothing_is_known_holds_keys() -> None:
    assert Guarded(View("pods", math.inf)).guard.wait() == HELD_SECONDS


def test_a_controller_that_watches_nothing_is_never_held() -> None:
    assert Guarded().guard.wait() == 0.0


def test_a_row_of_holds_is_logged_once_at_its_beginning_and_once_at_its_end() -> None:
    view = View("pods", 90)
    guarded = Guarded(view)
    with capture_logs() as logs:
        for _ in range(50):
            guarded.guard.wait()
        view.behind = 1
        guarded.guard.wait()
    assert [entry["event"] for entry in logs] == [
        "holding reconciles: a cache is behind",
        "reconciling again: the caches have caught up",
    ]
    assert logs[0]["kind"] == "pods"


def test_a_time_within_which_no_cache_is_fresh_is_refused_when_it_is_declared() -> None:
    with pytest.raises(ConfigError, match=r"(?s)fresh\(within=0\).*because: .*try: "):
        Manager("m").controls(ConfigMap).fresh(within=0)


def test_a_sampling_that_would_never_rest_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"(?s)staleness=0.*because: .*try: "):
        Manager("m", staleness=0)


async def test_a_reconcile_of_a_key_may_wait_for_its_views_too(cluster: InProcessCluster) -> None:
    done: list[Request] = []

    async def work(request: Request, ctx: KeyContext) -> None:
        await ctx.fresh(within=30)
        done.append(request)

    manager = Manager("keys")
    keyed = manager.keyed("keys").watches(ConfigMap, to=lambda obj: [Request("all")])
    keyed.fresh(within=120).reconcile(work)
    engine = await cluster.run(manager)
    await cluster.create(ConfigMap(metadata=named("a")))
    await cluster.advance(1)
    assert done
    assert engine.metrics.registry.value(
        "quintant_cache_staleness_seconds", {"controller": "keys", "kind": "configmaps"}
    ) is not None  # fmt: skip
