from __future__ import annotations

from quintant.cluster.apiserver.meta.warnings import warning_headers


def test_warnings_are_told_once_and_escaped() -> None:
    assert warning_headers(['a "b" \\', 'a "b" \\', "c"]) == {
        "warning": '299 - "a \\"b\\" \\\\", 299 - "c"'
    }


def test_what_was_told_before_is_still_told() -> None:
    before = {"warning": '299 - "a"', "x": "y"}
    assert warning_headers(["b"], before) == {"warning": '299 - "b", 299 - "a"', "x": "y"}
    assert warning_headers([], before) == before
