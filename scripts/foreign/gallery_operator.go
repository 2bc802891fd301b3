// An operator on controller-runtime with a mistake of docs/mistakes.md, or without it.
//
// For each Widget it makes a ConfigMap, and notes its name in the status.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var (
	mistake = flag.String("mistake", "twice", "twice, early or conflict")
	mended  = flag.Bool("mended", false, "without it")
	widgets = schema.GroupVersionKind{Group: "demo.dev", Version: "v1", Kind: "Widget"}
)

type reconciler struct {
	client.Client
}

func main() {
	flag.Parse()
	ctrl.SetLogger(zap.New())
	options := ctrl.Options{Metrics: metrics.Options{BindAddress: "0"}}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), options)
	stopOn(err)
	watched := &unstructured.Unstructured{}
	watched.SetGroupVersionKind(widgets)
	made := &reconciler{Client: manager.GetClient()}
	stopOn(ctrl.NewControllerManagedBy(manager).Named("gallery").For(watched).Complete(made))
	stopOn(manager.Start(ctrl.SetupSignalHandler()))
}

func stopOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(widgets)
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if widget.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	noted, _, _ := unstructured.NestedString(widget.Object, "status", "child")
	if noted != "" && !(*mistake == "early" && *mended) {
		return ctrl.Result{}, nil
	}
	switch *mistake {
	case "early":
		return ctrl.Result{}, r.early(ctx, widget)
	case "conflict":
		return ctrl.Result{}, r.conflict(ctx, widget)
	}
	return ctrl.Result{}, r.twice(ctx, widget)
}

// A child with a generated name is made twice.
func (r *reconciler) twice(ctx context.Context, widget *unstructured.Unstructured) error {
	child := childOf(widget)
	if !*mended {
		child.Name, child.GenerateName = "", widget.GetName()+"-"
	}
	if err := r.made(ctx, child); err != nil {
		return err
	}
	return r.note(ctx, widget, child.Name)
}

// The status says that a child is there before it is made.
func (r *reconciler) early(ctx context.Context, widget *unstructured.Unstructured) error {
	child := childOf(widget)
	if *mended {
		if err := r.made(ctx, child); err != nil {
			return err
		}
		return r.note(ctx, widget, child.Name)
	}
	if err := r.note(ctx, widget, child.Name); err != nil {
		return err
	}
	return r.made(ctx, child)
}

// A conflict is taken for something that another client has done.
func (r *reconciler) conflict(ctx context.Context, widget *unstructured.Unstructured) error {
	child := childOf(widget)
	err := r.made(ctx, child)
	if err != nil && (*mended || !apierrors.IsConflict(err)) {
		return err
	}
	return r.note(ctx, widget, child.Name)
}

func childOf(widget *unstructured.Unstructured) *corev1.ConfigMap {
	owner := *metav1.NewControllerRef(widget, widgets)
	meta := metav1.ObjectMeta{Namespace: widget.GetNamespace(), Name: widget.GetName()}
	meta.OwnerReferences = []metav1.OwnerReference{owner}
	return &corev1.ConfigMap{ObjectMeta: meta}
}

func (r *reconciler) made(ctx context.Context, child *corev1.ConfigMap) error {
	err := r.Create(ctx, child)
	if child.Name != "" && apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (r *reconciler) note(ctx context.Context, widget *unstructured.Unstructured, name string) error {
	before := widget.DeepCopy()
	_ = unstructured.SetNestedField(widget.Object, name, "status", "child")
	return r.Status().Patch(ctx, widget, client.MergeFrom(before))
}
