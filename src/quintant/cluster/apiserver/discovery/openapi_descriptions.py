"""ObjectMeta.SwaggerDoc, TypeMeta.SwaggerDoc: what `kubectl explain` says of every object."""

from __future__ import annotations

from collections.abc import Mapping

API_VERSION = "APIVersion defines the version of the schema that this object is written in."
KIND = "Kind says what this object is, in CamelCase. It cannot be changed."
METADATA = "Standard object's metadata: what it is called, and what is known of every object."
OBJECT_META: Mapping[str, str] = {
    "annotations": "Notes of any program, by their keys. Nothing is selected by them.",
    "creationTimestamp": "CreationTimestamp is a timestamp: when the server stored this.",
    "deletionGracePeriodSeconds": "How long the object may take to end once it is to be deleted.",
    "deletionTimestamp": "When the object may be gone. Set by the server when it is deleted.",
    "finalizers": "What has to be done before the object goes. Who did it removes its entry.",
    "generateName": "How a name begins that the server completes, where there is no name.",
    "generation": "Counts what is wanted: grows with every change of the spec.",
    "labels": "What the object is selected and grouped by.",
    "managedFields": "Which program owns which fields, and since when. Kept by the server.",
    "name": "What the object is called: once per kind and namespace. It cannot be changed.",
    "namespace": "Where its name is unique. It cannot be changed.",
    "ownerReferences": "The objects that this one depends on: it goes when they all are gone.",
    "resourceVersion": "Changes with every write. A write that names an older one is refused.",
    "selfLink": "Of old servers. It is empty.",
    "uid": "Tells the object from all others that ever were. Set by the server.",
}
