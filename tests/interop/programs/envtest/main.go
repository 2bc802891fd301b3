// A test of an operator as people write them in Go: envtest starts the pair of programs that
// KUBEBUILDER_ASSETS names, installs a definition, creates and watches, adds a user, and stops.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const group = "envtest.quintant.dev"

var boat = schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Boat"}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
	fmt.Println("passed")
}

func run(ctx context.Context) (failed error) {
	env := &envtest.Environment{
		CRDs:                     []*apiextensionsv1.CustomResourceDefinition{definition()},
		ErrorIfCRDPathMissing:    true,
		AttachControlPlaneOutput: true,
	}
	if name, value, found := strings.Cut(os.Getenv("APISERVER_FLAG"), "="); found {
		env.ControlPlane.GetAPIServer().Configure().Set(name, value)
	}
	config, err := env.Start()
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer func() {
		if err := env.Stop(); err != nil && failed == nil {
			failed = fmt.Errorf("stop: %w", err)
		}
	}()
	fmt.Println("started")
	admin, err := client.NewWithWatch(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	if err := watched(ctx, admin); err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	if err := restricted(ctx, env, admin); err != nil {
		return fmt.Errorf("user: %w", err)
	}
	return nil
}

func definition() *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"crew": {Type: "integer"},
			}},
		},
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "boats." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "boats", Singular: "boat", Kind: "Boat", ListKind: "BoatList",
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
}

func newBoat(name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"crew": int64(2)}}}
	made.SetGroupVersionKind(boat)
	made.SetName(name)
	made.SetNamespace("default")
	return made
}

func watched(ctx context.Context, admin client.WithWatch) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(boat.GroupVersion().WithKind("BoatList"))
	stream, err := admin.Watch(ctx, list, client.InNamespace("default"))
	if err != nil {
		return err
	}
	defer stream.Stop()
	made := newBoat("a")
	if err := admin.Create(ctx, made); err != nil {
		return err
	}
	select {
	case event := <-stream.ResultChan():
		found, ok := event.Object.(*unstructured.Unstructured)
		if !ok || found.GetName() != "a" || found.GetUID() != made.GetUID() {
			return fmt.Errorf("heard %v", event)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
	return admin.Create(ctx, pod) // no service account is needed: envtest disables the plugin
}

func restricted(ctx context.Context, env *envtest.Environment, admin client.Client) error {
	user, err := env.AddUser(envtest.User{Name: "ann", Groups: []string{"readers"}}, nil)
	if err != nil {
		return err
	}
	ann, err := client.New(user.Config(), client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: "default", Name: "a"}
	if err := ann.Get(ctx, key, newBoat("a")); !apierrors.IsForbidden(err) {
		return fmt.Errorf("without a role: %v", err)
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{group}, Resources: []string{"boats"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "readers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "readers"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "readers"}},
	}
	for _, obj := range []client.Object{role, binding} {
		if err := admin.Create(ctx, obj); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		if err = ann.Get(ctx, key, newBoat("a")); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
