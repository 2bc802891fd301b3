from __future__ import annotations

from quintant.http.request import Request
from quintant.http.response import Response, text_response
from quintant.http.routes import exact_path, route_by_path
from unit.http.client_connection import bodies, in_memory_server


async def named(_: Request, below: str) -> Response:
    return text_response(f"<{below}>")


HANDLER = route_by_path({"one": exact_path(lambda: text_response("first")), "named": named})


async def answer(line: str) -> tuple[int, bytes]:
    async with in_memory_server(HANDLER) as here:
        (found,) = bodies(await here.ask(f"{line} HTTP/1.1\r\nHost: a\r\n\r\n".encode()))
        return found


async def test_a_page_is_found_by_its_word() -> None:
    assert await answer("GET /one") == (200, b"first\n")
    assert await answer("GET /named/a/b%20c?x=y") == (200, b"<a/b c>\n")


async def test_there_is_nothing_below_a_single_page_nor_beside_pages() -> None:
    for path in ("/one/more", "/two", "/"):
        assert await answer(f"GET {path}") == (404, b"not found\n")


async def test_pages_are_only_read() -> None:
    assert await answer("POST /one") == (405, b"only GET and HEAD\n")
