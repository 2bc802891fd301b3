// The operator on controller-runtime: a ConfigMap for every Greeter, then its status.
//
// BENCH_MODE says which of its two ways is used. "update" is what its documentation teaches:
// CreateOrUpdate compares the child with the cache and writes nothing that is there already, and
// the status is updated if it differs. "apply" sends both by server-side apply every time, as
// controller-runtime keeps no memory of what it applied.
package main

import (
	"context"
	"os"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	fieldOwner = "greeter"
	loopback   = "127.0.0.1:0"
)

type reconciler struct {
	client.Client
	scheme *runtime.Scheme
}

type updating struct{ reconciler }

type applying struct{ reconciler }

func (r *updating) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var greeter Greeter
	if err := r.Get(ctx, req.NamespacedName, &greeter); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: greeter.Name, Namespace: greeter.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, child, func() error {
		child.Data = map[string]string{"text": greeter.Spec.Message}
		return controllerutil.SetControllerReference(&greeter, child, r.scheme)
	})
	if err != nil || greeter.Status.Greeted {
		return ctrl.Result{}, err
	}
	greeter.Status.Greeted = true
	return ctrl.Result{}, r.Status().Update(ctx, &greeter)
}

func (r *applying) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var greeter Greeter
	if err := r.Get(ctx, req.NamespacedName, &greeter); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	child := blank("v1", "ConfigMap", &greeter)
	child.Object["data"] = map[string]any{"text": greeter.Spec.Message}
	if err := controllerutil.SetControllerReference(&greeter, child, r.scheme); err != nil {
		return ctrl.Result{}, err
	}
	configuration := client.ApplyConfigurationFromUnstructured(child)
	if err := r.Apply(ctx, configuration, client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	if greeter.Status.Greeted {
		return ctrl.Result{}, nil
	}
	status := blank(GroupVersion.String(), "Greeter", &greeter)
	status.Object["status"] = map[string]any{"greeted": true}
	return ctrl.Result{}, r.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status),
		client.FieldOwner(fieldOwner), client.ForceOwnership)
}

func blank(apiVersion, kind string, like client.Object) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetName(like.GetName())
	object.SetNamespace(like.GetNamespace())
	return object
}

func main() {
	log.SetLogger(zap.New())
	workers, err := strconv.Atoi(os.Getenv("BENCH_WORKERS"))
	must(err)

	scheme := runtime.NewScheme()
	must(clientgoscheme.AddToScheme(scheme))
	addToScheme(scheme)

	config := ctrl.GetConfigOrDie()
	config.QPS = -1 // no limit on the client's side: nobody else here has one

	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: loopback},
		HealthProbeBindAddress: loopback,
	})
	must(err)
	base := reconciler{manager.GetClient(), scheme}
	builder := ctrl.NewControllerManagedBy(manager).
		For(&Greeter{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers})
	if os.Getenv("BENCH_MODE") == "apply" {
		must(builder.Complete(&applying{base}))
	} else {
		must(builder.Complete(&updating{base}))
	}
	must(manager.Start(ctrl.SetupSignalHandler()))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
