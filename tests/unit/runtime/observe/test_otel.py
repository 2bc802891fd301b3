"""A reconcile and its requests are one trace: with key, cause and result, and virtual times."""

from __future__ import annotations

import io
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from quintant import Context, Custom, Manager, Model, ObjectMeta, Request, Result, owned, resource
from quintant.api.core import ConfigMap
from quintant.core.errors import ConfigError
from quintant.keys.sensitive import MASK
from quintant.runtime.observe import logs
from quintant.runtime.observe.otel import OtelTracer, tracer_from
from quintant.testing import InProcessCluster, kind, named, verb


class ShopSpec(Model):
    message: str = ""


@resource(group="demo.dev", version="v1")
class Shop(Custom[ShopSpec, None]):
    """A kind to reconcile."""


class Traces:
    """What was traced, by the SDK's own means."""

    def __init__(self, cluster: InProcessCluster) -> None:
        self._spans, self.cluster = InMemorySpanExporter(), cluster
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self.tracer = OtelTracer(provider, cluster.clock)

    async def run(self, manager: Manager) -> None:
        environment = replace(self.cluster.environment(), tracer=self.tracer)
        await self.cluster.run(manager, environment=environment)

    async def shop(self, message: str = "hi") -> None:
        await self.cluster.create(Shop(metadata=named("a"), spec=ShopSpec(message=message)))
        await self.cluster.advance(1)

    def spans(self, name: str) -> list[Any]:
        return [span for span in self._spans.get_finished_spans() if span.name == name]

    def reconciles(self) -> list[Any]:
        return self.spans("reconcile shop")

    def children(self, span: Any) -> list[str]:
        mine = [
            each for each in self._spans.get_finished_spans()
            if each.parent is not None and each.parent.span_id == span.context.span_id
        ]  # fmt: skip
        assert {each.context.trace_id for each in mine} <= {span.context.trace_id}
        return [each.name for each in mine]


@pytest.fixture
def traces(cluster: InProcessCluster) -> Traces:
    return Traces(cluster)


def shops(reconcile: Any) -> Manager:
    manager = Manager("shops")
    manager.controls(Shop).owns(ConfigMap).reconcile(reconcile)
    return manager


async def copy(shop: Shop, ctx: Context[Shop]) -> None:
    meta = ObjectMeta(name=shop.metadata.name, namespace=shop.metadata.namespace)
    child = ConfigMap(metadata=meta, data={"text": shop.spec.message})
    await ctx.apply(owned(child, by=shop))


async def test_reconcile_is_a_span_with_key_cause_and_result(traces: Traces) -> None:
    await traces.run(shops(copy))
    await traces.shop()
    first = traces.reconciles()[0]
    told = dict(first.attributes)
    assert told.pop("quintant.reconcile_id")
    assert told == {
        "quintant.controller": "shop",
        "quintant.object": "default/a",
        "quintant.cause": ("created Shop default/a",),
        "quintant.result": "success",
    }
    assert first.parent is None
    assert first.status.is_ok or first.status.is_unset


async def test_requests_are_children_of_their_reconcile(traces: Traces) -> None:
    await traces.run(shops(copy))
    await traces.shop()
    [request] = traces.spans("apply configmaps")
    assert traces.children(traces.reconciles()[0]) == ["apply configmaps"]
    assert request.attributes["http.response.status_code"] in (200, 201)
    assert request.attributes["http.request.method"] == "PATCH"
    assert request.attributes["url.path"] == "/api/v1/namespaces/default/configmaps/a"


async def test_what_no_reconcile_sends_is_not_traced(traces: Traces) -> None:
    async def idle(shop: Shop, ctx: Context[Shop]) -> None: ...

    await traces.run(shops(idle))
    await traces.shop()
    assert traces.reconciles()
    assert not traces.spans("list shops")
    assert all(span.name.startswith("reconcile ") for span in traces.reconciles())


async def test_the_server_is_told_the_trace(traces: Traces) -> None:
    await traces.run(shops(copy))
    await traces.shop()
    [span] = traces.spans("apply configmaps")
    [sent] = traces.cluster.faults.seen(verb("apply") & kind(ConfigMap))
    parent = f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-"
    assert sent.call.headers["traceparent"].startswith(parent)


async def test_times_are_those_of_the_clock(traces: Traces) -> None:
    async def slow(shop: Shop, ctx: Context[Shop]) -> None:
        await traces.cluster.advance(90)

    await traces.run(shops(slow))
    await traces.cluster.create(Shop(metadata=named("a"), spec=ShopSpec()))
    await traces.cluster.advance(100)
    [span] = traces.reconciles()
    assert span.end_time - span.start_time == 90 * 10**9


async def test_a_change_of_another_kind_and_a_wish_are_named_as_causes(traces: Traces) -> None:
    async def again(shop: Shop, ctx: Context[Shop]) -> Result:
        await copy(shop, ctx)
        return Result(after=10)

    await traces.run(shops(again))
    await traces.shop()
    child = await traces.cluster.get(ConfigMap, "a")
    await traces.cluster.client.delete(child)
    await traces.cluster.advance(15)
    causes = [span.attributes["quintant.cause"] for span in traces.reconciles()]
    assert any("deleted ConfigMap default/a" in each for each in causes)
    assert ("its own wish",) in causes
    assert traces.reconciles()[0].attributes["quintant.requeue_after_seconds"] == 10


async def test_a_failure_is_told_without_its_secrets_and_retried_with_its_reason(
    traces: Traces,
) -> None:
    async def broken(shop: Shop, ctx: Context[Shop]) -> None:
        raise RuntimeError("no answer from https://user:hunter2@shop.example.com")

    await traces.run(shops(broken))
    await traces.shop()
    first, second, *_ = traces.reconciles()
    assert first.attributes["quintant.result"] == "error"
    assert not first.status.is_ok
    assert first.status.description == (
        f"RuntimeError: no answer from https://{MASK}@shop.example.com"
    )
    assert second.attributes["quintant.cause"] == ("retry after a failure",)


async def test_a_refused_request_is_an_error_each_time_it_is_sent(traces: Traces) -> None:
    await traces.run(shops(copy))
    applies = verb("apply") & kind(ConfigMap)
    traces.cluster.faults.answer(429, retry_after=1, when=applies, times=1)
    await traces.shop()
    await traces.cluster.advance(5)
    codes = [span.attributes["http.response.status_code"]
             for span in traces.spans("apply configmaps")]  # fmt: skip
    assert codes[0] == 429
    assert codes[-1] in (200, 201)


async def test_log_lines_carry_the_ids(traces: Traces) -> None:
    out = io.StringIO()
    logs.configure(format="json", stream=out)

    async def broken(shop: Shop, ctx: Context[Shop]) -> None:
        ctx.log.info("looked")
        raise RuntimeError("shut")

    await traces.run(shops(broken))
    await traces.shop()
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    first = traces.reconciles()[0]
    ids = (f"{first.context.trace_id:032x}", f"{first.context.span_id:016x}")
    own = [line for line in lines
           if line.get("reconcileID") == first.attributes["quintant.reconcile_id"]]  # fmt: skip
    assert [line["msg"] for line in own] == ["looked", "reconcile failed"]
    assert {(line["trace_id"], line["span_id"]) for line in own} == {ids}


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_SERVICE_NAME": "shop"},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"},
        {"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "console"},
    ],
)
def test_nothing_is_traced_unless_it_is_asked_for(environ: dict[str, str]) -> None:
    assert tracer_from(environ, "shop") is None


def test_an_exporter_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="OTEL_TRACES_EXPORTER must be otlp, console or none"):
        tracer_from({"OTEL_TRACES_EXPORTER": "zipkin"}, "shop")


async def test_the_console_needs_no_collector(capsys: pytest.CaptureFixture[str]) -> None:
    tracer = tracer_from({"OTEL_TRACES_EXPORTER": "console"}, "shop")
    assert tracer is not None
    with tracer.reconcile(
        "shop", Request("a", "default"), "1", ("created Shop default/a",)
    ) as span:
        span.ended("success", "", None)
    await tracer.close()
    told = json.loads(capsys.readouterr().out)
    assert told["name"] == "reconcile shop"
    assert told["resource"]["attributes"]["service.name"] == "shop"


class Collector(BaseHTTPRequestHandler):
    """Takes what is posted."""

    taken: list[tuple[str, bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.taken.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.mark.realtime
async def test_spans_reach_a_collector_before_the_program_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)  # the exporter reads it
        tracer = tracer_from({"OTEL_EXPORTER_OTLP_ENDPOINT": address}, "shop")
        assert tracer is not None
        with tracer.reconcile("shop", Request("a", "default"), "1", ("created Shop default/a",)):
            pass
        await tracer.close()
        server.shutdown()
        serving.join()
    [(path, body)] = Collector.taken
    assert path == "/v1/traces"
    assert b"reconcile shop" in body
