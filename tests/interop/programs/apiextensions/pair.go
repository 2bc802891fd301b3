// The pair of KUBEBUILDER_ASSETS in place of the server that apiextensions' own tests start inside
// themselves: a new one for every test, with the namespaces that they take for granted.

package fixtures

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	serveroptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	token     = "pair"
	ownFlags  = 14 // of startDefaultServer, for a server that is nothing but apiextensions
	readyTime = 2 * time.Minute
)

var namespaces = []string{"namespace-1", "namespace-2", "not-the-default", "test", "the-cruel-default", "whitespace-cabundle"}

func startPair(t servertesting.Logger, _ any, flags []string, _ *storagebackend.Config) (servertesting.TestServer, error) {
	folder, err := os.MkdirTemp("", "pair")
	if err != nil {
		return servertesting.TestServer{}, err
	}
	clients, peers, secure := freePort(t), freePort(t), freePort(t)
	etcdURL := "http://" + clients
	tokens, key := filepath.Join(folder, "tokens.csv"), filepath.Join(folder, "sa.key")
	write(t, tokens, []byte(token+`,admin,1,"system:masters"`+"\n"))
	write(t, key, newKey(t))
	_, port, _ := net.SplitHostPort(secure)
	etcd := start(t, folder, "etcd", "--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls=http://"+peers, "--data-dir="+filepath.Join(folder, "data"), "--unsafe-no-fsync")
	server := start(t, folder, "kube-apiserver", append([]string{
		"--etcd-servers=" + etcdURL, "--secure-port=" + port, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		"--cert-dir=" + folder, "--authorization-mode=RBAC", "--token-auth-file=" + tokens,
		"--service-account-issuer=https://127.0.0.1/", "--service-account-key-file=" + key,
		"--service-account-signing-key-file=" + key, "--service-cluster-ip-range=10.0.0.0/24",
		"--disable-admission-plugins=ServiceAccount"}, flags[ownFlags:]...)...)
	stop := func() {
		for _, each := range []*exec.Cmd{server, etcd} {
			_ = each.Process.Signal(syscall.SIGTERM)
			_ = each.Wait()
		}
		_ = os.RemoveAll(folder)
	}
	config := &rest.Config{Host: "https://" + secure, BearerToken: token, QPS: 1000, Burst: 10000}
	config.CAFile = filepath.Join(folder, "apiserver.crt")
	if err := prepare(config); err != nil {
		stop()
		return servertesting.TestServer{}, err
	}
	options := serveroptions.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	options.RecommendedOptions.Etcd.StorageConfig.Prefix = "/registry"
	options.RecommendedOptions.Etcd.StorageConfig.Transport.ServerList = []string{etcdURL}
	return servertesting.TestServer{ClientConfig: config, ServerOpts: options, TearDownFn: stop, TmpDir: folder}, nil
}

// prepare waits until the server answers, and makes the namespaces.
func prepare(config *rest.Config) (err error) {
	for limit := time.Now().Add(readyTime); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if _, err = os.Stat(config.CAFile); err != nil {
			continue
		}
		clients, failure := kubernetes.NewForConfig(config)
		if failure != nil {
			return failure
		}
		if _, err = clients.RESTClient().Get().AbsPath("/readyz").DoRaw(context.TODO()); err != nil {
			continue
		}
		for _, name := range namespaces {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if _, err = clients.CoreV1().Namespaces().Create(context.TODO(), namespace, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("the server was not ready: %w", err)
}

func start(t servertesting.Logger, folder, name string, flags ...string) *exec.Cmd {
	log, err := os.Create(filepath.Join(folder, name+".log"))
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer log.Close()
	command := exec.Command(filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), name), flags...)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		t.Fatalf("%v", err)
	}
	return command
}

func freePort(t servertesting.Logger) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func newKey(t servertesting.Logger) []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("%v", err)
	}
	content, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: content})
}

func write(t servertesting.Logger, path string, content []byte) {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
}
