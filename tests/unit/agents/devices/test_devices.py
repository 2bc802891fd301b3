"""What simulated devices answer: upstream's paths and texts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random

import pytest

from quintant.agents.devices import (
    agv,
    camera,
    hello_world,
    plate_reader,
    plc,
    robot_arm,
    thermometer,
)
from quintant.agents.devices.http_device import STATES, Pages, handler
from quintant.http.server import serving
from testbeds.devices import ask

pytestmark = pytest.mark.realtime


@asynccontextmanager
async def device(pages: Pages) -> AsyncIterator[int]:
    async with serving(handler(pages), "127.0.0.1", 0, goodbye=0.1) as (_, port):
        yield port


async def said(port: int, path: str) -> tuple[int, str]:
    status, _, body = await ask("127.0.0.1", port, path)
    return status, body.decode()


@pytest.mark.parametrize(
    ("pages", "path", "form"),
    [
        (thermometer.pages(Random(1)), "/read_value", r"[12][0-9]|30"),
        (robot_arm.pages(Random(1)), "/get_coordinate", r"xpos: \d+, ypos: \d+, zpos: \d+"),
        (agv.pages(Random(1)), "/get_position", r"xpos: \d+, ypos: \d+"),
        (plate_reader.pages(Random(1)), "/get_measurement", r"(([0-3]\.\d\d ){12}\n){8}"),
        (hello_world.pages(), "/hello", "Hello_world from device via shifu!"),
        (hello_world.pages(), "/headers", r"(?s).*host: localhost\n.*"),
        (thermometer.pages(Random(1)), "/health", "Healthy"),
        (thermometer.pages(Random(1)), "/get_status", "|".join(STATES)),
    ],
)
async def test_devices_answer_in_upstreams_words(pages: Pages, path: str, form: str) -> None:
    async with device(pages) as port:
        status, text = await said(port, path)
        assert status == 200
        assert re.fullmatch(form, text), text
        assert (await said(port, "/nope"))[0] == 404


async def test_single_bits_of_a_plc_are_set() -> None:
    async with device(plc.pages(plc.PlcMemory())) as port:
        assert await said(port, "/getcontent?rootaddress=Q") == (200, f"0b{'0' * 16}")
        set_bit = "/sendsinglebit?rootaddress=Q&address=0&digit=1&value=1"
        assert await said(port, set_bit) == (200, "0b0000000000000010")
        assert await said(port, "/getcontent?rootaddress=Q") == (200, "0b0000000000000010")
        assert await said(port, "/getcontent?rootaddress=DB") == (400, "Nonexistent memory area")
        for bad in ("address=x&digit=0&value=1", "address=0&digit=99&value=1", "address=0"):
            assert (await said(port, f"/sendsinglebit?rootaddress=Q&{bad}"))[0] == 400


async def test_a_camera_takes_pictures_and_moves() -> None:
    async with device(camera.pages(camera.CameraState())) as port:
        status, headers, body = await ask("127.0.0.1", port, "/capture")
        assert (status, headers["content-type"]) == (200, "image/jpeg")
        assert (body[:2], body[-2:]) == (b"\xff\xd8", b"\xff\xd9")
        assert await said(port, "/move/up") == (200, "Success")
        assert '"y": 1' in (await said(port, "/info"))[1]
