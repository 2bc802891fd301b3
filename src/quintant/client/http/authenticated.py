"""Credentials before a transport: shown with every request, and once more when they are refused.

`Authenticated` is what every transport with credentials does: ask for a credential, send, and after
a 401 let the credentials look again. `HttpTransport` builds on it, because its connections depend
on the credential too; `SignedTransport` puts it in front of any other transport.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from msgspec.structs import replace

from quintant.client.config.credentials import Credential, CredentialProvider
from quintant.client.transport import ApiRequest, ApiResponse, ApiStream, Transport
from quintant.core.clock import monotonic


class Authenticated(ABC):
    """Sends with a credential; a request refused with 401 is tried once more with a newer one."""

    def __init__(self, credentials: CredentialProvider) -> None:
        self._credentials = credentials

    async def request(self, call: ApiRequest) -> ApiResponse:
        """Send and wait for the whole answer, whatever its status. Raises TransportError only."""
        began = monotonic()
        reply = await self._request(call, await self._credentials.credential(), began)
        if reply.status == 401 and self._credentials.invalidate(began):
            return await self._request(call, await self._credentials.credential(), monotonic())
        return reply

    @asynccontextmanager
    async def stream(self, call: ApiRequest) -> AsyncIterator[ApiStream]:
        """Send and read the answer as it comes, on a connection of its own."""
        began = monotonic()
        async with self._stream(call, await self._credentials.credential()) as stream:
            if stream.status != 401 or not self._credentials.invalidate(began):
                yield stream
                return
        async with self._stream(call, await self._credentials.credential()) as stream:
            yield stream

    @abstractmethod
    async def _request(self, call: ApiRequest, credential: Credential, began: float) -> ApiResponse:
        """Send a request that shows `credential`, and that began then on the loop's clock."""

    @abstractmethod
    def _stream(
        self, call: ApiRequest, credential: Credential
    ) -> AbstractAsyncContextManager[ApiStream]:
        """Open a stream that shows `credential`."""


class SignedTransport(Authenticated):
    """Any transport, with credentials; a certificate among them has no connection to be shown on.

    With it a manager that runs in process is a user to the server, and its tokens may rotate.
    """

    def __init__(self, inner: Transport, credentials: CredentialProvider) -> None:
        super().__init__(credentials)
        self._inner = inner

    async def close(self) -> None:
        """Release the transport behind."""
        await self._inner.close()

    async def _request(self, call: ApiRequest, credential: Credential, began: float) -> ApiResponse:
        return await self._inner.request(_signed(call, credential))

    def _stream(
        self, call: ApiRequest, credential: Credential
    ) -> AbstractAsyncContextManager[ApiStream]:
        return self._inner.stream(_signed(call, credential))


def _signed(call: ApiRequest, credential: Credential) -> ApiRequest:
    return replace(call, headers={**credential.headers, **call.headers})
