"""What exploration once found of infra, and holds ever since."""

from __future__ import annotations

import pytest

from explore.infra import Update
from quintant.testing import replay_run


@pytest.mark.parametrize("event", range(10, 17))
def test_an_old_list_after_a_restart_brings_no_creation_back(event: int) -> None:
    """The token of a creation is not to be found any more once the cluster was updated."""
    replay_run(Update, f"rewind@e{event}~steps=2")
