from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path

import msgspec
import pytest

from image.strip_debug import strip_folder, stripped

LIBRARY = Path(msgspec._core.__file__)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="libraries are ELF on Linux only")
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")


@LINUX
def test_a_library_without_its_sections_loads_and_works(tmp_path: Path) -> None:
    target = tmp_path / f"_core{SUFFIX}"
    # A debug section of a wheel stands behind everything that is loaded.
    target.write_bytes(LIBRARY.read_bytes() + bytes(100_000))
    assert strip_folder(tmp_path) >= 100_000
    spec = importlib.util.spec_from_file_location("msgspec._core", target)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.JSONEncoder


@LINUX
def test_what_is_stripped_stays_as_it_is() -> None:
    once = stripped(LIBRARY.read_bytes())
    assert stripped(once) == once


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF" + bytes(60), b"#!/bin/sh\n" * 20])
def test_what_is_no_library_stays_as_it_is(content: bytes) -> None:
    assert stripped(content) == content


@LINUX
def test_a_library_that_is_cut_stays_as_it_is() -> None:
    content = LIBRARY.read_bytes()[:4096]
    assert stripped(content) == content
