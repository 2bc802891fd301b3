"""BuildTransportConfig: connections to an extension server, as a front proxy.

Its certificate is held to the caBundle by Go's rules before a byte is sent; the server shows its
own, by which the extension server believes whom a request is from.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from datetime import UTC, datetime

from quintant.cluster.apiserver.aggregator.api_service import RemoteApi
from quintant.cluster.apiserver.aggregator.front_proxy import FrontProxy
from quintant.cluster.apiserver.golang.net_errors import connect_error, tls_error
from quintant.cluster.apiserver.golang.tls_config import (
    NO_BUNDLE,
    certificate_pool,
    machine_context,
    unverified_context,
    verify_presented,
)
from quintant.cluster.apiserver.golang.x509_errors import UntrustedCertificate
from quintant.cluster.apiserver.proxy.proxied_request import DialFailed
from quintant.core.address import BindAddress
from quintant.keys.tls import load_key_pair

DIAL_SECONDS = 10.0
"""For a connection with TLS to stand."""
BUFFER_BYTES = 64 * 1024
"""Read ahead of one connection."""


class RemoteTransport:
    """Connects with one extension server."""

    def __init__(self, api: RemoteApi, front_proxy: FrontProxy) -> None:
        self._api = api
        self._context: ssl.SSLContext | None = None
        self._front_proxy = front_proxy

    async def dial(self, address: BindAddress) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection with whom the caBundle vouches for; DialFailed, in Go's words."""
        if self._context is None:
            self._context = self._made_context()
        writer: asyncio.StreamWriter | None = None
        believed = False
        try:
            async with asyncio.timeout(DIAL_SECONDS):
                reader, writer = await asyncio.open_connection(
                    address.host, address.port, limit=BUFFER_BYTES
                )
                await writer.start_tls(self._context, server_hostname=self._api.server_name)
            self._verify(writer)
            believed = True
        except UntrustedCertificate as error:
            why = f"tls: failed to verify certificate: x509: {error}"
            raise DialFailed(why) from None
        except (socket.gaierror, UnicodeError):  # the latter of a label too long for any name
            raise DialFailed(f"dial tcp: lookup {address.host}: no such host") from None
        except OSError as error:
            if writer is not None:
                raise DialFailed(tls_error(error)) from None
            raise DialFailed(connect_error(address.host, address.port, error)) from None
        finally:
            if writer is not None and not believed:
                writer.transport.abort()
        return reader, writer

    def _verify(self, writer: asyncio.StreamWriter) -> None:
        api, shown = self._api, writer.get_extra_info("ssl_object")
        if api.bundle and not api.insecure:
            verify_presented(shown, api.bundle, api.server_name, datetime.now(UTC))

    def _made_context(self) -> ssl.SSLContext:
        api = self._api
        if api.bundle and not certificate_pool(api.bundle):
            raise DialFailed(NO_BUNDLE)
        trusting = api.insecure or api.bundle
        context = unverified_context() if trusting else machine_context()
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        load_key_pair(context, self._front_proxy.pair)
        return context
