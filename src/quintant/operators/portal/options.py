"""The settings of Portal Expose, with the reason for each default.

They come from the environment of the operator's pod, under the names that users of the contract
know: TUNNEL_IMAGE and so on. What is a flag of every operator wins over them.
"""

from __future__ import annotations

import re
from typing import Literal

from quintant.core.options import Duration
from quintant.operators.portal.builders import Tunnels
from quintant.runtime.settings import ManagerOptions
from quintant.version import QUINTANT

IMAGE = f"quintant:{QUINTANT}"
# Our own image holds many programs; the image of another tunnel starts it by itself.
_OURS = re.compile(r"(?:.*/)?quintant(?::[^/]*)?(?:@.*)?")
_COMMAND = ("quintant", "agent", "tunnel")


class Options(ManagerOptions, frozen=True):
    """What is decided for all tunnels at once. Durations are seconds."""

    tunnel_image: str = IMAGE
    """TUNNEL_IMAGE: what the tunnel pods run. Users of a PortalExpose cannot choose it."""
    cluster_domain: str = "cluster.local"
    """CLUSTER_DOMAIN: the end of every Service's name in the cluster's DNS."""
    relay_status_source: Literal["scrape", "assume"] = "scrape"
    """RELAY_STATUS_SOURCE: `scrape` asks the tunnels; `assume` takes every ready pod for connected,
    for images of tunnels that tell nothing. Such an image is not probed either."""
    status_check_interval: Duration = 30.0
    """STATUS_CHECK_INTERVAL: how often pods that are not ready are looked at, beside watches."""
    own_image: str = IMAGE
    """OWN_IMAGE: the image of the operator's own pod, whatever it is called; read from the pod."""

    @property
    def tunnels(self) -> Tunnels:
        """How tunnels are made."""
        ours = self.tunnel_image == self.own_image or bool(_OURS.fullmatch(self.tunnel_image))
        silent = not ours and self.relay_status_source == "assume"
        command = _COMMAND if ours else ()
        return Tunnels(self.tunnel_image, self.cluster_domain, command, silent)
