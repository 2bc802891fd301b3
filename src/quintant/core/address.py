"""Where to listen: `host:port`. An empty host is every interface, port 0 any free one."""

from __future__ import annotations

from ipaddress import ip_address

from msgspec import Struct

from quintant.core.errors import ConfigError

HIGHEST_PORT = 65535


class BindAddress(Struct, frozen=True):
    """Where to listen; an empty host is every interface."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> BindAddress:
        """`:8080`, `127.0.0.1:0`, `[::1]:8080`; ConfigError for anything else."""
        host, colon, port = text.rpartition(":")
        bare = host.removeprefix("[").removesuffix("]")
        if not colon or not port.isdecimal() or int(port) > HIGHEST_PORT:
            raise ConfigError(
                f"{text!r} is not an address to listen on",
                because="it must be host:port, and the host may be empty",
                hint='":8080" for every interface, "127.0.0.1:8080" for this machine only',
            )
        if ":" in bare and bare == host:
            raise ConfigError(f"{text!r} is ambiguous", hint=f'write "[{host}]:{port}" for IPv6')
        return cls(bare, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
