"""What healing notes in a status leaves all else of it as others wrote it."""

from __future__ import annotations

from quintant.api.quantity import Quantity
from quintant.operators.cosmos.api.status import (
    FullNodeStatus,
    PvcAutoScaling,
    SelfHealingStatus,
)
from quintant.operators.cosmos.self_healing.plan.status import (
    note_rebuild,
    note_restart,
    note_sizes,
)

SIZE = PvcAutoScaling(requested_size=Quantity("2Gi"), requested_at="t")
BEFORE = FullNodeStatus(
    height={"hub-0": 7},
    self_healing=SelfHealingStatus(restarted_at={"hub-1": "a"}, pvc_auto_scaler={"other": SIZE}),
)


def test_each_note_is_added_to_those_before() -> None:
    after = note_rebuild("hub-2", "c")(note_restart("hub-0", "b")(BEFORE))
    assert after.self_healing.restarted_at == {"hub-1": "a", "hub-0": "b"}
    assert after.self_healing.rebuilt_at == {"hub-2": "c"}
    assert note_sizes({"pvc": SIZE})(after).self_healing.pvc_auto_scaler.keys() == {"other", "pvc"}
    assert after.height == {"hub-0": 7}


def test_a_note_in_an_empty_status_begins_one() -> None:
    assert note_restart("hub-0", "b")(None).self_healing.restarted_at == {"hub-0": "b"}
