package main

import (
	"reflect"
	"sort"
	"strings"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	autoscaling2 "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	resource "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// The group versions whose kinds the embedded server knows. The order is that of the samples:
// what has been shown in full in one kind is shown in brief in the kinds after it.
var groups = []struct {
	version schema.GroupVersion
	install func(*runtime.Scheme) error
}{
	{core.SchemeGroupVersion, core.AddToScheme},
	{apps.SchemeGroupVersion, apps.AddToScheme},
	{batch.SchemeGroupVersion, batch.AddToScheme},
	{coordination.SchemeGroupVersion, coordination.AddToScheme},
	{discovery.SchemeGroupVersion, discovery.AddToScheme},
	{events.SchemeGroupVersion, events.AddToScheme},
	{policy.SchemeGroupVersion, policy.AddToScheme},
	{rbac.SchemeGroupVersion, rbac.AddToScheme},
	{scheduling.SchemeGroupVersion, scheduling.AddToScheme},
	{storage.SchemeGroupVersion, storage.AddToScheme},
	{networking.SchemeGroupVersion, networking.AddToScheme},
	{autoscaling.SchemeGroupVersion, autoscaling.AddToScheme},
	{autoscaling2.SchemeGroupVersion, autoscaling2.AddToScheme},
	{node.SchemeGroupVersion, node.AddToScheme},
	{certificates.SchemeGroupVersion, certificates.AddToScheme},
	{admissionregistration.SchemeGroupVersion, admissionregistration.AddToScheme},
	{apiextensions.SchemeGroupVersion, apiextensions.AddToScheme},
	{authentication.SchemeGroupVersion, authentication.AddToScheme},
	{authorization.SchemeGroupVersion, authorization.AddToScheme},
	{flowcontrol.SchemeGroupVersion, flowcontrol.AddToScheme},
	{apiregistration.SchemeGroupVersion, apiregistration.AddToScheme},
	{resource.SchemeGroupVersion, resource.AddToScheme},
}

// Kind is something that can be the body of a request, and its Go type.
type Kind struct {
	Version schema.GroupVersion
	Name    string
	Type    reflect.Type
}

// Label spells a kind as its apiVersion and its name: apps/v1/Deployment.
func (k Kind) Label() string {
	return k.Version.String() + "/" + k.Name
}

// kinds lists every kind of every group, and the two that belong to all of them. Lists and the
// options of a URL are never bodies, and what no API serves is left out.
func kinds() []Kind {
	found := []Kind{
		{schema.GroupVersion{Version: "v1"}, "DeleteOptions", reflect.TypeFor[meta.DeleteOptions]()},
		{schema.GroupVersion{Version: "v1"}, "Status", reflect.TypeFor[meta.Status]()},
	}
	for _, group := range groups {
		scheme := runtime.NewScheme()
		if err := group.install(scheme); err != nil {
			panic(err)
		}
		types := scheme.KnownTypes(group.version)
		for _, name := range sorted(types) {
			if body(name, types[name]) {
				found = append(found, Kind{group.version, name, types[name]})
			}
		}
	}
	return found
}

func body(name string, kind reflect.Type) bool {
	_, list := kind.FieldByName("Items")
	_, metadata := kind.FieldByName("ObjectMeta")
	return metadata && !list && !strings.HasSuffix(name, "Options") && !unserved[name]
}

var unserved = map[string]bool{"PodStatusResult": true, "RangeAllocation": true}

func sorted[V any](entries map[string]V) []string {
	names := make([]string, 0, len(entries))
	for name := range entries {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
