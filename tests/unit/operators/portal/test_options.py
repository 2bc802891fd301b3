"""The settings of Portal Expose come from the environment, under the names users know."""

from __future__ import annotations

import pytest

from quintant.core.errors import ConfigError
from quintant.core.options import from_environment
from quintant.operators.portal import controllers
from quintant.operators.portal.options import IMAGE, Options
from quintant.runtime.manager.manager import Manager


def test_empty_environment_gives_the_defaults() -> None:
    assert from_environment(Options, {"TUNNEL_IMAGE": ""}) == Options()
    assert Options().settings == {}


def test_every_setting_can_be_given() -> None:
    given = from_environment(
        Options,
        {
            "TUNNEL_IMAGE": "ghcr.io/gosuda/portal-tunnel:1.0.0",
            "CLUSTER_DOMAIN": "corp.local",
            "RELAY_STATUS_SOURCE": "assume",
            "STATUS_CHECK_INTERVAL": "5s",
            "MAX_CONCURRENT_RECONCILES": "8",
            "RESYNC_PERIOD": "1h",
            "METRICS_ADDR": ":9090",
            "HEALTH_PROBE_ADDR": ":9091",
        },
    )
    assert given == Options(
        "ghcr.io/gosuda/portal-tunnel:1.0.0",
        "corp.local",
        "assume",
        5,
        max_concurrent_reconciles=8,
        resync_period=3600,
        metrics_addr=":9090",
        health_probe_addr=":9091",
    )


def test_manager_listens_where_the_environment_says() -> None:
    manager = Manager("portal")
    controllers(manager, Options(resync_period=60.0, metrics_addr=":1", health_probe_addr=":2"))
    settings = manager.settings
    assert (settings.resync, settings.metrics, settings.probes) == (60, ":1", ":2")


def test_unknown_source_is_refused() -> None:
    with pytest.raises(ConfigError, match="scrape or assume"):
        from_environment(Options, {"RELAY_STATUS_SOURCE": "guess"})


@pytest.mark.parametrize(
    ("image", "ours"),
    [
        (IMAGE, True),
        ("registry:5000/team/quintant@sha256:0", True),
        ("quintant/tunnel", False),
        ("ghcr.io/gosuda/portal-tunnel:1.0.0", False),
    ],
)
def test_only_our_own_image_needs_to_be_told_what_to_run(image: str, ours: bool) -> None:
    assert bool(Options(tunnel_image=image).tunnels.command) is ours
