"""What the roles of infra grant and nothing here takes, each with its reason."""

from __future__ import annotations

from collections.abc import Mapping

from quintant.operators.infra.api import GROUP
from testbeds.rights import BLOCKS, WATCHED, Right

UNUSED: Mapping[Right, str] = {
    Right(GROUP, "clusters/finalizers", "update"): BLOCKS,
    Right(GROUP, "infrastructureproviders", "get"): WATCHED,
    Right(GROUP, "globalinfrastructureproviders", "get"): WATCHED,
    Right(GROUP, "infrastructureclaims", "get"): WATCHED,
}
