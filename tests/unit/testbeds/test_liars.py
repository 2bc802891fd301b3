"""A lie is the same in every run, and about anything."""

from __future__ import annotations

from testbeds.liars import Lie, LieKind, Manner, lie

TRUTH = b'{"result": {"height": "7", "peers": [1, 2, {"ok": true}]}}'


def test_a_seed_has_one_lie() -> None:
    assert [lie(seed, TRUTH) for seed in range(60)] == [lie(seed, TRUTH) for seed in range(60)]


def test_every_kind_comes_up_in_few_seeds() -> None:
    assert {lie(seed, TRUTH).kind for seed in range(len(LieKind))} == set(LieKind)


def test_a_lie_is_hardly_ever_the_truth() -> None:
    honest = Lie(0, LieKind.EMPTY, TRUTH)
    lies = [lie(seed, TRUTH) for seed in range(400)]
    alike = [
        each for each in lies if each.message == honest.message and each.manner is Manner.WHOLE
    ]
    assert len(alike) < 10


def test_anything_can_be_lied_about() -> None:
    for truth in (b"", b"\xff\x00", b"7", b'"text"', b"[]"):
        assert all(lie(seed, truth).message for seed in range(200))
