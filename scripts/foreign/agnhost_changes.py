"""What agnhost needs on a node whose pods are processes, which share addresses and a host name.

It has no switch for the address that it listens on, and asks the kernel for the name of its pod. On
such a node both are in variables.
"""

from foreign.source_change import SourceChange

_FOLDER = "test/images/agnhost"
_ADDRESS = 'os.Getenv("QUINTANT_POD_IP")'
_ANY_PORT = 'fmt.Sprintf(":%d", {})'


def _import_os(file: str) -> SourceChange:
    return _change(file, '\t"net/http"\n', '\t"net/http"\n\t"os"\n')


def _change(file: str, old: str, new: str) -> SourceChange:
    return SourceChange(f"{_FOLDER}/{file}", old, new)


def _listen(file: str, before: str, port: str = "port") -> SourceChange:
    """Listen at the pod's address only, where a text ends with a port of every address."""
    text = _ANY_PORT.format(port)
    return _change(file, f"{before}{text}", f"{before}{_ADDRESS}+{text}")


def _host_name(file: str, variable: str) -> SourceChange:
    old = f"{variable}, err := os.Hostname()"
    return _change(file, old, f'{variable}, err := os.Getenv("HOSTNAME"), error(nil)')


def _print_mount(file: str, text: str, variable: str) -> SourceChange:
    """Print the path of a mount as its pod has it."""
    before = f'fmt.Printf("{text} %q: %v\\n", '
    trimmed = f'strings.TrimPrefix({variable}, os.Getenv("QUINTANT_ROOT")), '
    return _change(file, f"{before}{variable}, ", f"{before}{trimmed}")


def _find_account(file: str, package: str) -> SourceChange:
    """Speak with the API server as the pod's account, whose folder has no fixed place."""
    account = 'os.Getenv("QUINTANT_SERVICE_ACCOUNT")'
    server = 'os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")'
    config = (
        f'&{package}.Config{{Host: fmt.Sprintf("https://%s:%s", {server}), '
        f'BearerTokenFile: {account} + "/token", '
        f'TLSClientConfig: {package}.TLSClientConfig{{CAFile: {account} + "/ca.crt"}}}}, error(nil)'
    )
    return _change(file, f"{package}.InClusterConfig()", config)


_SERVE_HOSTNAME = "serve-hostname/serve_hostname.go"
_NETEXEC = "netexec/netexec.go"
_PORTER = "porter/porter.go"
_MOUNTTEST = "mounttest/mt.go"
_MOUNTTEST_MODES = "mounttest/mt_utils.go"

CHANGES = (
    _import_os("webhook/main.go"),
    _listen("webhook/main.go", "Addr:      "),
    _import_os("crd-conversion-webhook/main.go"),
    _listen("crd-conversion-webhook/main.go", "Addr:      "),
    # Its client is for an option that is not there any more.
    _change(
        "crd-conversion-webhook/config.go",
        "rest.InClusterConfig()",
        "&rest.Config{}, error(nil)",
    ),
    _find_account("nettest/nettest.go", "restclient"),
    _find_account("openidmetadata/openidmetadata.go", "rest"),
    _import_os("liveness/server.go"),
    _change("liveness/server.go", 'ListenAndServe(":8080"', f'ListenAndServe({_ADDRESS}+":8080"'),
    _import_os("test-webserver/test-webserver.go"),
    _listen("test-webserver/test-webserver.go", "ListenAndServe("),
    _change(
        "test-webserver/test-webserver.go", 'http.Dir("/")', 'http.Dir(os.Getenv("QUINTANT_ROOT"))'
    ),
    _listen("tcp-reset/tcp_reset.go", 'net.Listen("tcp", '),
    _listen(_SERVE_HOSTNAME, 'net.Listen("tcp", '),
    _listen(_SERVE_HOSTNAME, 'net.ResolveUDPAddr("udp", '),
    _listen(_SERVE_HOSTNAME, "ListenAndServe("),
    _host_name(_SERVE_HOSTNAME, "hostname"),
    _listen(_NETEXEC, "http.Server{Addr: ", "httpPort"),
    _change(_NETEXEC, "[]string{bindToAny}", f"[]string{{{_ADDRESS}}}"),
    _host_name(_NETEXEC, "hostName"),
    _change(_PORTER, '"udp", "0.0.0.0:"+port', f'"udp", {_ADDRESS}+":"+port'),
    _change(
        _PORTER,
        'func serveTCPPort(port, value string) {\n\n\ts := &http.Server{\n\t\tAddr: "0.0.0.0:"',
        "func serveTCPPort(port, value string) {\n\n\ts := &http.Server{\n"
        f'\t\tAddr: {_ADDRESS} + ":"',
    ),
    _change(
        _PORTER,
        'func serveTLSPort(port, value string) {\n\ts := &http.Server{\n\t\tAddr: "0.0.0.0:"',
        "func serveTLSPort(port, value string) {\n\ts := &http.Server{\n"
        f'\t\tAddr: {_ADDRESS} + ":"',
    ),
    _change(_MOUNTTEST, '\t"os"\n', '\t"os"\n\t"strings"\n'),
    _print_mount(_MOUNTTEST, "content of file", "path"),
    _print_mount(_MOUNTTEST, "content of file", "filePath"),
    _change(
        _MOUNTTEST,
        'retrying\\n", filePath, err)',
        'retrying\\n", strings.TrimPrefix(filePath, os.Getenv("QUINTANT_ROOT")), err)',
    ),
    _change(_MOUNTTEST_MODES, '\t"os"\n', '\t"os"\n\t"strings"\n'),
    _print_mount(_MOUNTTEST_MODES, "mode of file", "path"),
    _print_mount(_MOUNTTEST_MODES, "perms of file", "path"),
)
