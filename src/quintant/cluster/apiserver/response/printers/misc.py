"""printCertificateSigningRequest, printLease, printRoleBinding: columns of the smaller groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quintant.cluster.apiserver.meta.types import JsonObject
from quintant.cluster.apiserver.response.printers import (
    AGE,
    NAME,
    NONE,
    Printer,
    TableColumn,
    column,
    metadata,
    part,
    spec,
    wide,
)
from quintant.cluster.apiserver.response.printers.age import duration

_UNSET = "<unset>"
_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _subjects(kind: str) -> Callable[[JsonObject], str]:
    def read(binding: JsonObject) -> str:
        found = [each for each in binding.get("subjects") or () if each.get("kind") == kind]
        return ", ".join(_subject(each) for each in found)

    return read


def _subject(subject: JsonObject) -> str:
    if subject["kind"] == "ServiceAccount":
        return f"{subject.get('namespace', '')}/{subject['name']}"
    return str(subject["name"])


def _role(binding: JsonObject) -> str:
    role = part(binding, "roleRef")
    return f"{role.get('kind', '')}/{role.get('name', '')}"


def _class_name(each: JsonObject) -> str:
    annotations, name = part(each, "metadata", "annotations"), metadata(each).get("name", "")
    default = any(annotations.get(key) == "true" for key in _DEFAULT)
    return f"{name} (default)" if default else name


def _bound(name: str) -> Callable[[JsonObject], str]:
    def read(budget: JsonObject) -> str:
        value: Any = spec(budget).get(name)
        return "N/A" if value is None else str(value)

    return read


def _controller(revision: JsonObject) -> str:
    owners = metadata(revision).get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind'].lower()}.{group}" if group else owner["kind"].lower()
    return f"{kind}/{owner['name']}"


def _signer(csr: JsonObject) -> str:
    return spec(csr).get("signerName") or NONE


def _requested_duration(csr: JsonObject) -> str:
    seconds = spec(csr).get("expirationSeconds")
    return NONE if seconds is None else duration(seconds)


def _decision(csr: JsonObject) -> str:
    status = part(csr, "status")
    types = {each.get("type") for each in status.get("conditions") or ()}
    words = ["Denied" if "Denied" in types else "Approved" if "Approved" in types else "Pending"]
    words += ["Failed"] if "Failed" in types else []
    return ",".join([*words, "Issued"] if status.get("certificate") else words)


def _dangling(schema: JsonObject) -> str:
    conditions = part(schema, "status").get("conditions") or ()
    found = (each.get("status", "") for each in conditions if each.get("type") == "Dangling")
    return next(found, "?")


def _served_by(api_service: JsonObject) -> str:
    service = spec(api_service).get("service")
    return "Local" if service is None else f"{service['namespace']}/{service['name']}"


def _available(api_service: JsonObject) -> str:
    conditions = part(api_service, "status").get("conditions") or ()
    found: JsonObject = next((each for each in conditions if each.get("type") == "Available"), {})
    value, reason = found.get("status") or "Unknown", found.get("reason")
    return f"{value} ({reason})" if reason and value != "True" else value


def _queuing(name: str) -> Callable[[JsonObject], Any]:
    return lambda each: part(each, "spec", "limited", "limitResponse", "queuing").get(name, NONE)


def _param_kind(policy: JsonObject) -> str:
    kind = spec(policy).get("paramKind")
    return _UNSET if kind is None else f"{kind['apiVersion']}/{kind['kind']}"


def _param_ref(binding: JsonObject) -> str:
    ref = spec(binding).get("paramRef") or {}
    if name := ref.get("name"):
        return f"{ref.get('namespace') or '*'}/{name}"
    return _UNSET if ref.get("selector") is None else _printed_selector(ref["selector"])


def _printed_selector(selector: JsonObject) -> str:
    """A label selector as Go prints one."""
    labels = sorted((selector.get("matchLabels") or {}).items())
    pairs = (f"{key}: {value}," for key, value in labels)
    terms = (
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{''.join(pairs)}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{''.join(terms)}}},}}"
    )


def _token_audiences(driver: JsonObject) -> str:
    requests = spec(driver).get("tokenRequests")
    if requests is None:
        return _UNSET
    return ",".join(each.get("audience", "") for each in requests)


def _parent(address: JsonObject) -> str:
    ref = spec(address).get("parentRef")
    if ref is None:
        return NONE
    group, resource = ref.get("group") or "", ref.get("resource", "")
    full = f"{resource}.{group}" if group else resource
    return "/".join(each for each in (full.lower(), ref.get("namespace"), ref.get("name")) if each)


CSR = Printer(
    (
        NAME,
        AGE,
        column("SignerName", _signer),
        column("Requestor", lambda each: spec(each).get("username", "")),
        column("RequestedDuration", _requested_duration),
        column("Condition", _decision),
    )
)
LEASE = Printer(
    (NAME, column("Holder", lambda lease: spec(lease).get("holderIdentity") or ""), AGE)
)
BINDING = Printer(
    (
        NAME,
        column("Role", _role),
        AGE,
        wide("Users", _subjects("User")),
        wide("Groups", _subjects("Group")),
        wide("ServiceAccounts", _subjects("ServiceAccount")),
    )
)
PRIORITY_CLASS = Printer(
    (
        NAME,
        column("Value", lambda each: each.get("value", 0), "integer"),
        column("Global-Default", lambda each: bool(each.get("globalDefault")), "boolean"),
        AGE,
        column("PreemptionPolicy", lambda each: each.get("preemptionPolicy", "")),
    )
)
STORAGE_CLASS = Printer(
    (
        TableColumn("Name", lambda each, now: _class_name(each), format="name"),
        column("Provisioner", lambda each: each.get("provisioner", "")),
        column("ReclaimPolicy", lambda each: each.get("reclaimPolicy") or "Delete"),
        column("VolumeBindingMode", lambda each: each.get("volumeBindingMode") or "Immediate"),
        column("AllowVolumeExpansion", lambda each: bool(each.get("allowVolumeExpansion"))),
        AGE,
    )
)
CSI_NODE = Printer(
    (NAME, column("Drivers", lambda each: len(spec(each).get("drivers") or ()), "integer"), AGE)
)
API_SERVICE = Printer((NAME, column("Service", _served_by), column("Available", _available), AGE))
CSI_DRIVER = Printer(
    (
        NAME,
        column("AttachRequired", lambda each: spec(each).get("attachRequired", True), "boolean"),
        column("PodInfoOnMount", lambda each: bool(spec(each).get("podInfoOnMount")), "boolean"),
        column("StorageCapacity", lambda each: bool(spec(each).get("storageCapacity")), "boolean"),
        column("TokenRequests", _token_audiences),
        column(
            "RequiresRepublish", lambda each: bool(spec(each).get("requiresRepublish")), "boolean"
        ),
        column(
            "Modes", lambda each: ",".join(spec(each).get("volumeLifecycleModes") or ()) or NONE
        ),
        AGE,
    )
)
VOLUME_ATTACHMENT = Printer(
    (
        NAME,
        TableColumn("Attacher", lambda each, now: spec(each).get("attacher", ""), format="name"),
        column("PV", lambda each: part(each, "spec", "source").get("persistentVolumeName", "")),
        column("Node", lambda each: spec(each).get("nodeName", "")),
        column("Attached", lambda each: bool(part(each, "status").get("attached")), "boolean"),
        AGE,
    )
)
SERVICE_CIDR = Printer(
    (NAME, column("CIDRs", lambda each: ",".join(spec(each).get("cidrs") or ())), AGE)
)
IP_ADDRESS = Printer((NAME, column("ParentRef", _parent)))
DISRUPTION_BUDGET = Printer(
    (
        NAME,
        column("Min Available", _bound("minAvailable")),
        column("Max Unavailable", _bound("maxUnavailable")),
        column(
            "Allowed Disruptions",
            lambda each: part(each, "status").get("disruptionsAllowed", 0),
            "integer",
        ),
        AGE,
    )
)
WEBHOOKS = Printer(
    (NAME, column("Webhooks", lambda each: len(each.get("webhooks") or ()), "integer"), AGE)
)
POLICY = Printer(
    (
        NAME,
        column("Validations", lambda each: len(spec(each).get("validations") or ()), "integer"),
        column("ParamKind", _param_kind),
        AGE,
    )
)
FLOW_SCHEMA = Printer(
    (
        NAME,
        column(
            "PriorityLevel",
            lambda each: part(each, "spec", "priorityLevelConfiguration").get("name", ""),
        ),
        column("MatchingPrecedence", lambda each: spec(each).get("matchingPrecedence", 0)),
        column(
            "DistinguisherMethod",
            lambda each: part(each, "spec", "distinguisherMethod").get("type", NONE),
        ),
        AGE,
        column("MissingPL", _dangling),
    )
)
PRIORITY_LEVEL = Printer(
    (
        NAME,
        column("Type", lambda each: spec(each).get("type", "")),
        column(
            "NominalConcurrencyShares",
            lambda each: part(each, "spec", "limited").get("nominalConcurrencyShares", NONE),
        ),
        column("Queues", _queuing("queues")),
        column("HandSize", _queuing("handSize")),
        column("QueueLengthLimit", _queuing("queueLengthLimit")),
        AGE,
    )
)
MUTATING_POLICY = Printer(
    (
        NAME,
        column("Mutations", lambda each: len(spec(each).get("mutations") or ()), "integer"),
        column("ParamKind", _param_kind),
        AGE,
    )
)
POLICY_BINDING = Printer(
    (
        NAME,
        column("PolicyName", lambda each: spec(each).get("policyName", "")),
        column("ParamRef", _param_ref),
        AGE,
    )
)
REVISION = Printer(
    (
        NAME,
        column("Controller", _controller),
        column("Revision", lambda each: each.get("revision", 0)),
        AGE,
    )
)
RUNTIME_CLASS = Printer((NAME, column("Handler", lambda each: each.get("handler", "")), AGE))
