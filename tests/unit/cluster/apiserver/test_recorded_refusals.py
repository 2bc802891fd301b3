"""What makes no sense is refused in the words that were recorded of a real server."""

from __future__ import annotations

import pytest

from conformance.refusals import Refusal, refusals
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from unit.cluster.api import api

ROWS = refusals()
NAMESPACED = {
    (kind.resource.api_version, kind.name): kind.resource.namespaced for kind in builtin_kinds()
}


@pytest.mark.parametrize(("where", "rows"), ROWS.items(), ids=["/".join(key) for key in ROWS])
async def test_what_makes_no_sense_is_refused_in_a_real_servers_words(
    where: tuple[str, str], rows: list[Refusal]
) -> None:
    client, (version, plural) = api(), where
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    space = "/namespaces/default" if NAMESPACED[where] else ""
    for row in rows:
        await row.check(client, f"{root}{space}/{plural}")
