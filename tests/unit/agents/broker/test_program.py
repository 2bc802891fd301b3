"""What the broker is told, and the configuration that it gives a mosquitto in its place."""

from __future__ import annotations

from quintant.agents.broker.program import PORT, bound_config, parse


def test_listeners_of_mosquitto_are_bound_to_the_pod() -> None:
    text = "# c\nlistener 1883\nlistener 9001 0.0.0.0\nallow_anonymous true\n"
    assert bound_config(text, "127.42.0.7", 1883) == (
        "# c\nlistener 1883 127.42.0.7\nlistener 9001 127.42.0.7\nallow_anonymous true\n"
    )
    assert bound_config("listener 1 10.0.0.1\n", "127.42.0.7", 1883) == "listener 1 10.0.0.1\n"


def test_without_a_listener_there_is_the_usual_one() -> None:
    assert "listener 1883 127.42.0.7\nallow_anonymous true" in bound_config("", "127.42.0.7", 1883)


def test_it_listens_on_this_machine_alone_unless_told_otherwise() -> None:
    assert parse(["--listen", "127.0.0.1"]) == ("127.0.0.1", PORT, False)
