"""A machine without a browser: it is said what to install, and where required that is a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from testbeds.chromium import REQUIRED, require_chromium

INSTALL = "try: apt-get install --no-install-recommends chromium"


def test_without_a_browser_tests_are_skipped_and_it_is_said_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match=INSTALL):
        require_chromium({"PATH": str(tmp_path)})


def test_without_a_browser_tests_fail_where_nothing_may_be_left_out(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=INSTALL):
        require_chromium({"PATH": str(tmp_path), REQUIRED: "1"})
