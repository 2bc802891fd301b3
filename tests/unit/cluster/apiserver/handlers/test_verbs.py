from __future__ import annotations

from unit.cluster.api import (
    CMS,
    api,
)


async def test_a_verb_that_changes_nothing_is_not_allowed() -> None:
    await api().ask("POST", f"{CMS}/a", {}, 405)
