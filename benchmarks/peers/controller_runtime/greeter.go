package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of the benchmark's custom resource.
var GroupVersion = schema.GroupVersion{Group: "bench.quintant.dev", Version: "v1"}

// Greeter keeps a ConfigMap with a greeting.
type Greeter struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   GreeterSpec   `json:"spec"`
	Status GreeterStatus `json:"status,omitempty"`
}

// GreeterSpec is what to say.
type GreeterSpec struct {
	Message string `json:"message"`
}

// GreeterStatus is whether it was said.
type GreeterStatus struct {
	Greeted bool `json:"greeted,omitempty"`
}

// GreeterList is a list of them.
type GreeterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Greeter `json:"items"`
}

// DeepCopyObject makes a copy that shares nothing.
func (in *Greeter) DeepCopyObject() runtime.Object {
	out := &Greeter{TypeMeta: in.TypeMeta, Spec: in.Spec, Status: in.Status}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

// DeepCopyObject makes a copy that shares nothing.
func (in *GreeterList) DeepCopyObject() runtime.Object {
	out := &GreeterList{TypeMeta: in.TypeMeta, Items: make([]Greeter, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for at := range in.Items {
		out.Items[at] = *in.Items[at].DeepCopyObject().(*Greeter)
	}
	return out
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(GroupVersion, &Greeter{}, &GreeterList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
}
