from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from quintant.agents.multiplex.metrics import Histogram, Series, exposition


def test_others_read_what_we_write() -> None:
    plain = Series("plain", "No labels.", "gauge")
    many = Series("many_total", 'With "labels".', "counter", ["relay", "result"])
    took = Histogram("took_seconds", "How long.")
    many.add("a\\b", 'x"y\nz')
    many.add("a\\b", 'x"y\nz', by=2)
    plain.set(to=1.5)
    for seconds in (0.0001, 0.003, 99):
        took.observe(seconds)
    families = {each.name: each for each in text_string_to_metric_families(
        exposition((plain, many, took))
    )}  # fmt: skip
    assert families["plain"].samples[0].value == 1.5
    (sample,) = families["many"].samples
    assert sample.labels == {"relay": "a\\b", "result": 'x"y\nz'}
    assert sample.value == 3
    found = {
        (each.name, each.labels.get("le")): each.value for each in families["took_seconds"].samples
    }
    assert found["took_seconds_bucket", "0.0005"] == 1
    assert found["took_seconds_bucket", "0.005"] == 2
    assert found["took_seconds_bucket", "+Inf"] == 3
    assert found["took_seconds_count", None] == 3


def test_what_never_happened_is_zero_where_it_has_no_labels() -> None:
    assert "none 0\n" in exposition((Series("none", "Nothing.", "counter"),))
