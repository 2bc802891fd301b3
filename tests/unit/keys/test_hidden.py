"""Promises of quintant.keys.hidden."""

from __future__ import annotations

import pickle

import pytest

from quintant.keys.hidden import Hidden


@pytest.mark.parametrize("show", [repr, str, "{}".format, lambda hidden: f"{[hidden]}"[1:-1]])
def test_secret_shows_as_stars_however_it_is_printed(show: object) -> None:
    assert callable(show)
    assert show(Hidden("sesame")) == "***"


def test_secret_comes_out_only_when_asked_for() -> None:
    assert Hidden("sesame").reveal() == "sesame"
    assert Hidden(b"sesame").reveal() == b"sesame"


def test_equal_secrets_are_equal_and_hash_alike() -> None:
    assert Hidden("a") == Hidden("a")
    assert Hidden("a") != Hidden("b")
    assert Hidden("a") != "a"
    assert len({Hidden("a"), Hidden("a")}) == 1


def test_empty_secret_is_false() -> None:
    assert not Hidden("")
    assert Hidden("a")


def test_secret_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(Hidden("sesame"))
