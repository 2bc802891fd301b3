"""The settings of the Cosmos operator, with the reason for each default.

They come from the environment of the operator's pod: TOOL_IMAGE and so on. What is a flag of every
operator wins over them.
"""

from __future__ import annotations

from quintant.operators.cosmos.builders.init_container_builder import Tools
from quintant.runtime.settings import ManagerOptions
from quintant.version import QUINTANT

IMAGE = f"quintant:{QUINTANT}"


class Options(ManagerOptions, frozen=True):
    """What is decided for all nodes at once."""

    tool_image: str = IMAGE
    """TOOL_IMAGE: what sidecars and init containers run beside the node: our own image, with
    `quintant agent cosmosnode`."""

    @property
    def tools(self) -> Tools:
        """How sidecars and init containers are made."""
        return Tools(self.tool_image)
