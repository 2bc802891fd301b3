"""Tracing with OpenTelemetry; needs the extra `otel`, and is loaded where tracing is on.

The variables are OpenTelemetry's own: the SDK and its exporter read them. What they leave to the
program is decided here: tracing is on where a variable says where to send spans, or which exporter
to use, and the name of the service is the manager's.

A program that has set a TracerProvider (`opentelemetry-instrument` does) is traced with that.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec.structs import replace

from quintant.client.request_info import resource_path, verb_of
from quintant.client.transport import ApiRequest
from quintant.core.clock import Clock, SystemClock
from quintant.core.errors import ConfigError
from quintant.core.object import Request
from quintant.origin import install_hint
from quintant.runtime.observe import logs
from quintant.runtime.observe.tracing import Tracer
from quintant.version import QUINTANT

log: Final = logs.get_logger()

EXTRA = "otel"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTER, _DISABLED = "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"
_OTLP, _CONSOLE, _NONE = "otlp", "console", "none"
_NANOSECONDS = 1_000


def tracer_from(environ: Mapping[str, str], service: str) -> Tracer | None:
    """The tracer that the environment asks for, or None; without the extra it is said, once."""
    wanted = environ.get(_EXPORTER, "").strip() or (_OTLP if _endpoint(environ) else _NONE)
    if environ.get(_DISABLED, "").strip().lower() == "true" or wanted == _NONE:
        return None
    if wanted not in (_OTLP, _CONSOLE):
        raise ConfigError(
            f"cannot trace with the exporter {wanted!r}",
            because=f"{_EXPORTER} must be {_OTLP}, {_CONSOLE} or {_NONE}",
        )
    try:
        return _tracer(environ, service, wanted)
    except ImportError as error:
        # Variables may be meant for the whole cluster; no program should fail for want of traces.
        why = f"the module {error.name} is not installed"
        log.warning("tracing is off", why=why, hint=install_hint(EXTRA))
        return None


def _endpoint(environ: Mapping[str, str]) -> bool:
    return any(environ.get(name) for name in _ENDPOINTS)


def _tracer(environ: Mapping[str, str], service: str, exporter: str) -> OtelTracer:
    """With what the program has set up itself, or else with the SDK as its variables say."""
    from opentelemetry import trace

    given = trace.get_tracer_provider()
    if not isinstance(given, trace.ProxyTracerProvider):
        return OtelTracer(given)
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {} if environ.get("OTEL_SERVICE_NAME") else {"service.name": service}
    provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(_exporter(exporter)))
    return OtelTracer(provider, close=provider.shutdown)


def _exporter(name: str) -> Any:
    if name == _CONSOLE:
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stdout)
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


class OtelTracer:
    """Makes spans of a TracerProvider; their times are those of `clock`."""

    def __init__(
        self,
        provider: Any,
        clock: Clock | None = None,
        *,
        close: Callable[[], None] | None = None,
    ) -> None:
        """`close` sends what was not sent yet; the provider's owner may do that, too."""
        from opentelemetry import propagate, trace

        self._clock, self._close = clock or SystemClock(), close
        self._tracer = provider.get_tracer("quintant", QUINTANT)
        self._trace, self._inject = trace, propagate.inject

    @contextmanager
    def reconcile(
        self, controller: str, key: Request, id: str, causes: Sequence[str]
    ) -> Iterator[OtelReconcileSpan]:
        """A span around a reconcile: one trace each, unless the caller has one."""
        attributes = {
            "quintant.controller": controller,
            "quintant.object": str(key),
            "quintant.reconcile_id": id,
            "quintant.cause": tuple(causes),
        }
        with self._span(f"reconcile {controller}", attributes) as span:
            yield OtelReconcileSpan(span, self._trace)

    def request(self, call: ApiRequest) -> Any:
        """A span around a request of a reconcile; other requests are not traced."""
        if not self._trace.get_current_span().get_span_context().is_valid:
            return None
        return self._request(call)

    async def close(self) -> None:
        """Send what was not sent yet, beside the loop: it may take as long as the exporter may."""
        if self._close is not None:
            await asyncio.to_thread(self._close)

    @contextmanager
    def _request(self, call: ApiRequest) -> Iterator[OtelRequestSpan]:
        path, verb = resource_path(call.path), verb_of(call)
        what = "/".join(filter(None, (path.plural or "server", path.sub)))
        attributes = {
            "http.request.method": call.method,
            "url.path": call.path,
            "k8s.verb": verb,
            "k8s.resource": what,
        }
        with self._span(f"{verb} {what}", attributes, self._trace.SpanKind.CLIENT) as span:
            headers = dict(call.headers)
            self._inject(headers)
            yield OtelRequestSpan(span, self._trace, replace(call, headers=headers))

    @contextmanager
    def _span(self, name: str, attributes: Mapping[str, Any], kind: Any = None) -> Iterator[Any]:
        kind = kind if kind is not None else self._trace.SpanKind.INTERNAL
        span = self._tracer.start_span(
            name, kind=kind, attributes=attributes, start_time=self._now()
        )
        try:
            with self._trace.use_span(
                span, end_on_exit=False, record_exception=False, set_status_on_exception=False
            ):
                yield span
        except BaseException as error:
            # The text of an error may be of any program: its name says enough here.
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(self._trace.StatusCode.ERROR)
            raise
        finally:
            span.end(end_time=self._now())

    def _now(self) -> int:
        return round(self._clock.now().timestamp() * 1e6) * _NANOSECONDS


class OtelReconcileSpan:
    """The span of a reconcile."""

    def __init__(self, span: Any, trace: Any) -> None:
        self._span, self._trace = span, trace
        context = span.get_span_context()
        self.ids: Mapping[str, str] = {
            "trace_id": f"{context.trace_id:032x}",
            "span_id": f"{context.span_id:016x}",
        }

    def ended(self, result: str, why: str, after: float | None) -> None:
        """Note the result; an error is reported as in the log, without what must not be read."""
        self._span.set_attribute("quintant.result", result)
        if after is not None:
            self._span.set_attribute("quintant.requeue_after_seconds", after)
        if result == "error":
            message = logs.redact({"why": why})["why"]
            self._span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, message))


class OtelRequestSpan:
    """The span of a request."""

    def __init__(self, span: Any, trace: Any, call: ApiRequest) -> None:
        self.call = call
        self._span, self._trace = span, trace

    def answered(self, status: int) -> None:
        """Note the answer; refusals are errors, as OpenTelemetry has it for clients."""
        self._span.set_attribute("http.response.status_code", status)
        if status >= 400:
            self._span.set_attribute("error.type", str(status))
            self._span.set_status(self._trace.StatusCode.ERROR)
