"""Where webhooks are served: the classes that settings choose from.

`WebhookServer` is served by ourselves, with a certificate of its own or a given one; those for
clusters on this machine differ by the name under which the cluster reaches it. A tunnel through
somebody else's servers is refused when it is to be served, by its name.
"""

from __future__ import annotations

from typing import Any

LOOPBACK = "localhost"


class WebhookServer:
    """A server of our own: address, port, path, certificate, and the name it is reached by."""

    default_host: str = LOOPBACK
    _TAKEN = (
        "addr", "port", "path", "host", "cadata", "cafile", "cadump", "context", "insecure",
        "certfile", "pkeyfile", "password", "extra_sans", "verify_mode", "verify_cafile",
        "verify_capath", "verify_cadata",
    )  # fmt: skip
    refused: tuple[str, ...] = (
        "cadata", "context", "insecure", "password",
        "verify_mode", "verify_cafile", "verify_capath", "verify_cadata",
    )  # fmt: skip
    """What is taken and not supported; it is refused when the server is to be opened."""

    def __init__(self, **given: Any) -> None:
        unknown = sorted(set(given).difference(self._TAKEN))
        if unknown:
            raise TypeError(f"{type(self).__name__} does not take {', '.join(unknown)}")
        self.given = given

    def get(self, name: str, default: Any = None) -> Any:
        """What was given under a name."""
        value = self.given.get(name)
        return default if value is None else value


class WebhookK3dServer(WebhookServer):
    """For k3d and k3s: reached from inside their virtual machine."""

    default_host = "host.k3d.internal"


class WebhookMinikubeServer(WebhookServer):
    """For minikube: reached from inside its virtual machine."""

    default_host = "host.minikube.internal"


class WebhookDockerDesktopServer(WebhookServer):
    """For Docker Desktop: reached from inside its virtual machine."""

    default_host = "host.docker.internal"


class WebhookNgrokTunnel:
    """A tunnel through ngrok's servers: it can be chosen, and not served."""

    def __init__(self, **given: Any) -> None:
        self.given = given


class WebhookAutoServer(WebhookServer):
    """A server of our own, on this machine."""


class WebhookAutoTunnel(WebhookServer):
    """A server of our own, on this machine; no tunnel is opened where it cannot be reached."""
