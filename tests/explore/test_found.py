"""What exploration once found in operators of ours, and holds ever since."""

from __future__ import annotations

import pytest

from explore.cosmos import NodesLive, ScheduleSpecs
from explore.infra import DeleteEarly, Update
from explore.klight import KlightRepair, KlightRestart
from explore.portal import PortalServiceBack, PortalSpecs
from explore.shifu import DeviceLife, DeviceSpecs
from quintant.testing import SpecScenario, replay_run
from quintant.testing.explore.specs.campaign import replay_specs


@pytest.mark.parametrize("event", range(10, 17))
def test_an_old_list_after_a_restart_brings_no_creation_back(event: int) -> None:
    """The token of a creation is not to be found any more once the cluster was updated."""
    replay_run(Update, f"rewind@e{event}~steps=2")


def test_a_secret_that_was_held_and_let_go_is_as_if_never_touched() -> None:
    """Who is deleted before it is begun holds no credentials, and who is begun lets them go."""
    replay_run(DeleteEarly, "timeout@w5")


def test_an_old_list_after_a_restart_holds_no_secret_for_ever() -> None:
    """By an old status nothing was held, and so nothing was let go."""
    replay_run(DeleteEarly, "stale@e8")


def test_an_old_list_after_a_restart_replaces_no_node() -> None:
    replay_run(NodesLive, "rewind@e15")


def test_a_status_that_an_earlier_process_wrote_last_is_set_right() -> None:
    """A Service is gone, and back before a process that starts again has heard of either."""
    replay_run(PortalServiceBack, "stale@e17")


@pytest.mark.parametrize("write", [2, 3])
def test_what_somebody_edits_of_a_device_is_set_right(write: int) -> None:
    """Its ConfigMap, and the number of its replicas."""
    replay_run(DeviceLife, f"child-edited@w{write}")


def test_a_late_status_is_set_right_though_its_answer_was_lost() -> None:
    """By the time its watch event comes, the device was looked at, and all was well."""
    replay_run(DeviceLife, "503@w3+rewind@e6+lost@w9~steps=2")


def test_a_request_for_a_repair_is_not_done_with_by_an_old_list() -> None:
    """In it were two of five members, and so nothing to do."""
    replay_run(KlightRepair, "rewind@e5+stale@e18")


def test_a_peer_that_restarted_is_joined_whoever_hears_of_it_first() -> None:
    """The kubelet of the scenario, last to hear, let the peer lose its memory once more."""
    replay_run(KlightRestart, "crash-after@w13~seed=466~steps=2")


NAMELESS = '[{"name":"r0","url":"wss://r0.example.com/relay","REF":{"name":""}}]'


@pytest.mark.parametrize(
    ("scenario", "spec"),
    [
        # Looking for what has no name failed each reconcile, and the status said nothing of it.
        (PortalSpecs, '{"app":{"service":{"name":""}}}'),
        (PortalSpecs, f'{{"relay":{{"targets":{NAMELESS.replace("REF", "authSecretRef")}}}}}'),
        (PortalSpecs, f'{{"relay":{{"targets":{NAMELESS.replace("REF", "caConfigMapRef")}}}}}'),
        (ScheduleSpecs, '{"fullNodeRef":{"name":""}}'),
        # The status named the generation before until the next resync.
        (DeviceSpecs, '{"description":"for people"}'),
    ],
)
def test_a_spec_comes_to_the_same_by_every_way(scenario: type[SpecScenario], spec: str) -> None:
    for token in (f"undisturbed~specs=[{spec}]", f"undisturbed~specs=[{{}},{spec},{{}}]"):
        assert replay_specs(scenario, token) is None
