from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from quintant.cli.processes.merged_metrics import merge
from quintant.metrics import Counter, Gauge, Histogram, Registry


def exposition(count: float, *, label: str = "a") -> bytes:
    total = Counter("shop_sales_total", "Sales.", ("what",))
    total.labels(label).inc(count)
    took, open_ = Histogram("shop_seconds", "Time.", (), (0.1, 1.0)), Gauge("shop_open", "Open.")
    took.observe(count)
    open_.set(1)
    return Registry((total, took, open_)).render()


def parsed(text: bytes) -> dict[str, list[tuple[str, dict[str, str], float]]]:
    """What Prometheus' own parser reads, by family; each only once."""
    families = list(text_string_to_metric_families(text.decode()))
    assert len({each.name for each in families}) == len(families)
    return {f.name: [(s.name, s.labels, s.value) for s in f.samples] for f in families}


def test_every_family_is_there_once_with_the_samples_of_all() -> None:
    merged = merge({"0": exposition(2), "1": exposition(3)})

    assert merged.count(b"# TYPE shop_sales_total counter\n") == 1
    found = parsed(merged)
    assert found["shop_sales"] == [
        ("shop_sales_total", {"process": "0", "what": "a"}, 2),
        ("shop_sales_total", {"process": "1", "what": "a"}, 3),
    ]
    assert found["shop_open"] == [
        ("shop_open", {"process": "0"}, 1),
        ("shop_open", {"process": "1"}, 1),
    ]


def test_counters_and_histograms_add_up_over_the_label() -> None:
    found = parsed(merge({"0": exposition(2), "1": exposition(0.05), "2": exposition(0.5)}))

    buckets = [s for s in found["shop_seconds"] if s[0] == "shop_seconds_bucket"]
    below = {le: sum(v for _, ls, v in buckets if ls["le"] == le) for le in ("0.1", "1.0", "+Inf")}
    assert below == {"0.1": 1, "1.0": 2, "+Inf": 3}
    assert sum(v for name, _, v in found["shop_seconds"] if name == "shop_seconds_count") == 3


def test_a_label_of_that_name_is_kept_under_another() -> None:
    text = b'up{a="process=\\"x\\"",process="web"} 1\n'
    ((_, labels, value),) = parsed(merge({"0": text}))["up"]
    assert labels == {"process": "0", "a": 'process="x"', "exported_process": "web"}
    assert value == 1


def test_a_family_has_the_type_that_came_first() -> None:
    gauge = b"# HELP a A.\n# TYPE a gauge\na 1\n"
    counter = b"# HELP a B.\n# TYPE a counter\na 2\nb 3\n"
    found = parsed(merge({"0": gauge, "1": counter}))
    assert found == {"a": [("a", {"process": "0"}, 1)], "b": [("b", {"process": "1"}, 3)]}


def test_what_is_no_line_of_an_exposition_is_left_out() -> None:
    lies = (
        b'x{a="1"\ny{} z\n{a="1"} 1\nz{a} 1\n9a 1\n\xff 1\nb 1 2 3\nc 1_0\n# TYPE\n# TYPE a b c d\n'
    )
    assert merge({"0": lies}) == b""
    assert merge({"0": b"a 1 1700\n"}) == b'a{process="0"} 1 1700\n'


def test_a_sample_with_a_histograms_suffix_stays_with_its_own_family() -> None:
    text = b"# TYPE a gauge\na 1\n# TYPE a_count gauge\na_count 2\n"
    assert merge({"0": text}).decode().splitlines() == [
        "# TYPE a gauge",
        'a{process="0"} 1',
        "# TYPE a_count gauge",
        'a_count{process="0"} 2',
    ]


@given(st.text(), st.text())
def test_labels_of_any_text_come_through(one: str, other: str) -> None:
    found = parsed(merge({"0": exposition(1, label=one), "1": exposition(1, label=other)}))
    assert [labels["what"] for _, labels, _ in found["shop_sales"]] == [one, other]


@given(st.binary(max_size=200))
def test_whatever_a_process_says_the_others_are_shown(lies: bytes) -> None:
    merged = merge({"0": lies, "1": b"fine_total 1\n"})
    assert b'fine_total{process="1"} 1' in merged
    assert all(line.startswith(b"#") or b'process="' in line for line in merged.splitlines())
