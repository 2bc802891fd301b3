"""customMetricsClient, externalMetricsClient: metrics whose APIs are not served. Pure.

The embedded cluster has neither custom.metrics.k8s.io nor external.metrics.k8s.io: what is said of
metrics of pods, of objects and from outside is what a real controller says without those APIs.
"""

from __future__ import annotations

from msgspec import Struct

from quintant.api.kubernetes.autoscaling_v2 import (
    ExternalMetricSource,
    MetricSpec,
    ObjectMetricSource,
    PodsMetricSource,
)
from quintant.api.meta import LabelSelector

_NO_CUSTOM = (
    "unable to fetch metrics from custom metrics API: no custom metrics API "
    "(custom.metrics.k8s.io) registered"
)
_NO_EXTERNAL = (
    "unable to fetch metrics from external metrics API: the server could not find the requested "
    "resource (get {name}.external.metrics.k8s.io)"
)


class MetricFailure(Struct, frozen=True):
    """Why a metric proposes nothing."""

    reason: str
    message: str
    error: str
    """The message, with what was being done."""


def unserved_metric(spec: MetricSpec, namespace: str) -> MetricFailure:
    """What is said of a metric whose API is not served."""
    if spec.pods is not None:
        return _pods(spec.pods)
    if spec.object is not None:
        return _object(spec.object, namespace)
    if spec.external is not None:
        return _external(spec.external, namespace)
    message = f'unknown metric source type "{spec.type}"'
    return MetricFailure("InvalidMetricSourceType", message, message)


def _pods(source: PodsMetricSource) -> MetricFailure:
    message = f"unable to get metric {source.metric.name}: {_NO_CUSTOM}"
    failed = f"failed to get pods metric value: {message}"
    return MetricFailure("FailedGetPodsMetric", message, failed)


def _object(source: ObjectMetricSource, namespace: str) -> MetricFailure:
    name, about = source.metric.name, source.described_object
    # The order of these words is Kubernetes 1.36's own.
    words = f"unable to get metric {name}: {about.kind} on {namespace} {about.name}"
    message = f"{words}/{_NO_CUSTOM}"
    average = source.target.type == "AverageValue"
    doing = f"failed to get {name} object metric: " if average else ""
    failed = f"failed to get object metric value: {doing}{message}"
    return MetricFailure("FailedGetObjectMetric", message, failed)


def _external(source: ExternalMetricSource, namespace: str) -> MetricFailure:
    name, selector = source.metric.name, _go_selector(source.metric.selector)
    why = _NO_EXTERNAL.format(name=name)
    message = f"unable to get external metric {namespace}/{name}/{selector}: {why}"
    average = source.target.average_value is not None
    doing = f"{name} external metric" if average else f"external metric {name}"
    failed = f"failed to get {name} external metric value: failed to get {doing}: {message}"
    return MetricFailure("FailedGetExternalMetric", message, failed)


def _go_selector(selector: LabelSelector | None) -> str:
    """A label selector as Go prints it."""
    if selector is None:
        return "nil"
    labels = "".join(f"{key}: {selector.match_labels[key]},"
                     for key in sorted(selector.match_labels))  # fmt: skip
    terms = "".join(
        f"LabelSelectorRequirement{{Key:{each.key},Operator:{each.operator},"
        f"Values:[{' '.join(each.values)}],}},"
        for each in selector.match_expressions
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{terms}}},}}"
    )
