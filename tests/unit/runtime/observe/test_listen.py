from __future__ import annotations

import pytest

from quintant.core.address import BindAddress
from quintant.core.errors import AddressInUse, ConfigError
from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.runtime.observe.listen import listen

LOCAL = BindAddress("127.0.0.1", 0)


async def hello(_: Request) -> Response:
    return text_response("hello")


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        (":8080", "", 8080),
        ("127.0.0.1:0", "127.0.0.1", 0),
        ("[::1]:8080", "::1", 8080),
        ("localhost:65535", "localhost", 65535),
    ],
)
def test_address_is_read_and_written_alike(text: str, host: str, port: int) -> None:
    address = BindAddress.parse(text)

    assert address == BindAddress(host, port)
    assert str(address) == text


@pytest.mark.parametrize("text", ["8080", "localhost", ":http", ":65536", "::1:8080", ":-1"])
def test_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"address|ambiguous"):
        BindAddress.parse(text)


@pytest.mark.realtime
async def test_port_zero_gives_back_the_chosen_port() -> None:
    async with listen(hello, LOCAL) as address:
        assert address.host == "127.0.0.1"
        assert address.port > 0


@pytest.mark.realtime
async def test_taken_port_is_a_mistake_in_the_setup() -> None:
    async with listen(hello, LOCAL) as address:
        with pytest.raises(AddressInUse) as caught:
            async with listen(hello, address):
                pass

    assert str(caught.value).splitlines() == [
        f"cannot listen on {address}",
        "because: another process does",
        "try: choose another port, or port 0 for any free one",
    ]


@pytest.mark.realtime
async def test_foreign_address_is_a_mistake_in_the_setup() -> None:
    with pytest.raises(ConfigError, match=r"cannot listen on 192\.0\.2\.1:0\nbecause: "):
        async with listen(hello, BindAddress("192.0.2.1", 0)):
            pass


@pytest.mark.realtime
async def test_port_is_free_again_when_the_server_has_stopped() -> None:
    async with listen(hello, LOCAL) as first:
        pass
    async with listen(hello, first) as second:
        assert second == first
