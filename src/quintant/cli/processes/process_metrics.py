"""The parent's own series: which children run, and how often each was started again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from quintant.metrics import Counter, Gauge, Metric


class ProcessMetrics:
    """A collector of the parent."""

    def __init__(self, names: Iterable[str]) -> None:
        self._up = Gauge(
            "quintant_process_up", "1 while a child process runs and answers.", ("process",)
        )
        self._restarts = Counter(
            "quintant_process_restarts_total", "Child processes started again.", ("process",)
        )
        for name in names:
            self._up.labels(name)
            self._restarts.labels(name)

    def answered(self, name: str, answers: bool) -> None:
        """Whether a child runs and answers now."""
        self._up.labels(name).set(answers)

    def restarted(self, name: str) -> None:
        """Count that a child is started again."""
        self._restarts.labels(name).inc()

    def collect(self) -> Iterator[Metric]:
        """Both, for a scrape."""
        yield from self._up.collect()
        yield from self._restarts.collect()
