"""DefaultOffAdmissionPlugins: what the admission plugins are called, and which can be left out.

The names are those of `--disable-admission-plugins`.
"""

from __future__ import annotations

CERTIFICATE_APPROVAL, CERTIFICATE_SIGNING = "CertificateApproval", "CertificateSigning"
CERTIFICATE_SUBJECT = "CertificateSubjectRestriction"
INGRESS_CLASS = "DefaultIngressClass"
LIMITS, PRIORITY = "LimitRanger", "Priority"
PROTECTION = "StorageObjectInUseProtection"
RESIZE = "PersistentVolumeClaimResize"
RESOURCE_QUOTA = "ResourceQuota"
RUNTIME_CLASS = "RuntimeClass"
SERVICE_ACCOUNT = "ServiceAccount"
STORAGE_CLASS = "DefaultStorageClass"
TOLERATIONS = "DefaultTolerationSeconds"

SWITCHABLE = frozenset(
    {
        *(CERTIFICATE_APPROVAL, CERTIFICATE_SIGNING, CERTIFICATE_SUBJECT),
        *(INGRESS_CLASS, LIMITS, PRIORITY, PROTECTION, RESIZE, RESOURCE_QUOTA),
        *(RUNTIME_CLASS, SERVICE_ACCOUNT, STORAGE_CLASS, TOLERATIONS),
    }
)
"""Those that can be left out."""
PERMANENT = frozenset(
    {
        *("NamespaceLifecycle", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook"),
    }
)
"""Those that are always asked."""
NEEDS_CONTROLLERS = frozenset({RESOURCE_QUOTA})
"""Of no use to a server that nothing counts for."""


def default_off(managed: bool) -> frozenset[str]:
    """The plugins that are not asked, unless it is said otherwise, with controllers or without."""
    return frozenset() if managed else frozenset({SERVICE_ACCOUNT, PROTECTION, RESOURCE_QUOTA})
