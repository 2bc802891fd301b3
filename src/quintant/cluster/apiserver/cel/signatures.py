"""cel-go decls.Overload: every function and operator, with the types it takes and returns.

A row is a name and its overloads: `(int, int) int` for a function, `string.(int) string` for a
method. Letters are variables. What is declared here and how it is called is a real server's; the
work is done by functions of the same name (quintant.cluster.apiserver.cel.functions, strings,
library).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from quintant.cluster.apiserver.cel.types import CelType

_ROWS = """
_==_  (A, A) bool
_!=_  (A, A) bool
_&&_  (bool, bool) bool
_||_  (bool, bool) bool
_?_:_ (bool, A, A) A
!_    (bool) bool
@not_strictly_false (bool) bool
-_    (int) int; (double) double
_+_   (int, int) int; (uint, uint) uint; (double, double) double; (string, string) string; \
      (bytes, bytes) bytes; (list(A), list(A)) list(A); (duration, duration) duration; \
      (timestamp, duration) timestamp; (duration, timestamp) timestamp
_-_   (int, int) int; (uint, uint) uint; (double, double) double; (duration, duration) duration; \
      (timestamp, timestamp) duration; (timestamp, duration) timestamp
_*_   (int, int) int; (uint, uint) uint; (double, double) double
_/_   (int, int) int; (uint, uint) uint; (double, double) double
_%_   (int, int) int; (uint, uint) uint
@in   (A, list(A)) bool; (A, map(A, B)) bool
_[_]  (list(A), int) A; (map(A, B), A) B; (optional_type(list(A)), int) optional_type(A); \
      (optional_type(map(A, B)), A) optional_type(B)
_[?_] (list(A), int) optional_type(A); (optional_type(list(A)), int) optional_type(A); \
      (map(A, B), A) optional_type(B); (optional_type(map(A, B)), A) optional_type(B)
size  (string) int; (bytes) int; (list(A)) int; (map(A, B)) int; string.() int; bytes.() int; \
      list(A).() int; map(A, B).() int
type  (A) type(A)
dyn   (A) dyn
bool  (bool) bool; (string) bool
bytes (bytes) bytes; (string) bytes
double (double) double; (int) double; (uint) double; (string) double
duration (duration) duration; (string) duration; (int) duration
int   (int) int; (double) int; (uint) int; (string) int; (timestamp) int; (duration) int
string (string) string; (bool) string; (bytes) string; (double) string; (int) string; \
      (uint) string; (timestamp) string; (duration) string; (net.IP) string; (net.CIDR) string
timestamp (timestamp) timestamp; (string) timestamp; (int) timestamp
uint  (uint) uint; (double) uint; (int) uint; (string) uint
contains string.(string) bool
endsWith string.(string) bool
startsWith string.(string) bool
matches (string, string) bool; string.(string) bool
getFullYear timestamp.() int; timestamp.(string) int
getMonth timestamp.() int; timestamp.(string) int
getDayOfYear timestamp.() int; timestamp.(string) int
getDayOfMonth timestamp.() int; timestamp.(string) int
getDate timestamp.() int; timestamp.(string) int
getDayOfWeek timestamp.() int; timestamp.(string) int
getHours timestamp.() int; timestamp.(string) int; duration.() int
getMinutes timestamp.() int; timestamp.(string) int; duration.() int
getSeconds timestamp.() int; timestamp.(string) int; duration.() int
getMilliseconds timestamp.() int; timestamp.(string) int; duration.() int
optional.of (A) optional_type(A)
optional.ofNonZeroValue (A) optional_type(A)
optional.none () optional_type(A)
value optional_type(A).() A
hasValue optional_type(A).() bool
or    optional_type(A).(optional_type(A)) optional_type(A)
orValue optional_type(A).(A) A
cel.@mapInsert (map(A, B), map(A, B)) map(A, B)
charAt string.(int) string
indexOf string.(string) int; string.(string, int) int; list(A).(A) int
lastIndexOf string.(string) int; string.(string, int) int; list(A).(A) int
lowerAscii string.() string
upperAscii string.() string
replace string.(string, string) string; string.(string, string, int) string
split string.(string) list(string); string.(string, int) list(string)
substring string.(int) string; string.(int, int) string
trim  string.() string
join  list(string).() string; list(string).(string) string
format string.(list(dyn)) string
strings.quote (string) string
sets.contains (list(A), list(A)) bool
sets.equivalent (list(A), list(A)) bool
sets.intersects (list(A), list(A)) bool
isSorted list(int).() bool; list(uint).() bool; list(double).() bool; list(bool).() bool; \
      list(duration).() bool; list(timestamp).() bool; list(string).() bool; list(bytes).() bool
sum   list(int).() int; list(uint).() uint; list(double).() double; list(duration).() duration
max   list(int).() int; list(uint).() uint; list(double).() double; list(bool).() bool; \
      list(duration).() duration; list(timestamp).() timestamp; list(string).() string; \
      list(bytes).() bytes
min   list(int).() int; list(uint).() uint; list(double).() double; list(bool).() bool; \
      list(duration).() duration; list(timestamp).() timestamp; list(string).() string; \
      list(bytes).() bytes
slice list(A).(int, int) list(A)
flatten list(list(A)).() list(A); list(dyn).(int) list(dyn)
lists.range (int) list(int)
distinct list(A).() list(A)
reverse list(A).() list(A)
sort  list(int).() list(int); list(uint).() list(uint); list(double).() list(double); \
      list(bool).() list(bool); list(duration).() list(duration); \
      list(timestamp).() list(timestamp); list(string).() list(string); list(bytes).() list(bytes)
first list(A).() optional_type(A)
last  list(A).() optional_type(A)
find  string.(string) string
findAll string.(string) list(string); string.(string, int) list(string)
quantity (string) kubernetes.Quantity
isQuantity (string) bool
isInteger kubernetes.Quantity.() bool
asInteger kubernetes.Quantity.() int
asApproximateFloat kubernetes.Quantity.() double
sign  kubernetes.Quantity.() int
add   kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity; \
      kubernetes.Quantity.(int) kubernetes.Quantity
sub   kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity; \
      kubernetes.Quantity.(int) kubernetes.Quantity
isGreaterThan kubernetes.Quantity.(kubernetes.Quantity) bool; \
      kubernetes.Semver.(kubernetes.Semver) bool
isLessThan kubernetes.Quantity.(kubernetes.Quantity) bool; \
      kubernetes.Semver.(kubernetes.Semver) bool
compareTo kubernetes.Quantity.(kubernetes.Quantity) int; kubernetes.Semver.(kubernetes.Semver) int
ip    (string) net.IP; net.CIDR.() net.IP
isIP  (string) bool
ip.isCanonical (string) bool
family net.IP.() int
isUnspecified net.IP.() bool
isLoopback net.IP.() bool
isLinkLocalMulticast net.IP.() bool
isLinkLocalUnicast net.IP.() bool
isGlobalUnicast net.IP.() bool
cidr  (string) net.CIDR
isCIDR (string) bool
containsIP net.CIDR.(string) bool; net.CIDR.(net.IP) bool
containsCIDR net.CIDR.(string) bool; net.CIDR.(net.CIDR) bool
masked net.CIDR.() net.CIDR
prefixLength net.CIDR.() int
url   (string) kubernetes.URL
isURL (string) bool
jsonpatch.escapeKey (string) string
getScheme kubernetes.URL.() string
getHost kubernetes.URL.() string
getHostname kubernetes.URL.() string
getPort kubernetes.URL.() string
getEscapedPath kubernetes.URL.() string
getQuery kubernetes.URL.() map(string, list(string))
format.named (string) optional_type(kubernetes.NamedFormat)
validate kubernetes.NamedFormat.(string) optional_type(list(string))
semver (string) kubernetes.Semver; (string, bool) kubernetes.Semver
isSemver (string) bool; (string, bool) bool
major kubernetes.Semver.() int
minor kubernetes.Semver.() int
patch kubernetes.Semver.() int
group kubernetes.authorization.Authorizer.(string) kubernetes.authorization.GroupCheck
path  kubernetes.authorization.Authorizer.(string) kubernetes.authorization.PathCheck
serviceAccount kubernetes.authorization.Authorizer.(string, string) \
      kubernetes.authorization.Authorizer
resource kubernetes.authorization.GroupCheck.(string) kubernetes.authorization.ResourceCheck
subresource kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
namespace kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
name  kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
check kubernetes.authorization.PathCheck.(string) kubernetes.authorization.Decision; \
      kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.Decision
allowed kubernetes.authorization.Decision.() bool
reason kubernetes.authorization.Decision.() string
errored kubernetes.authorization.Decision.() bool
error kubernetes.authorization.Decision.() string
"""
_ORDERED = ("int", "uint", "double", "string", "bytes", "bool", "timestamp", "duration")
_NUMERIC = ("int", "uint", "double")
_NAMED_FORMATS = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix"),
    *("dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte"),
    *("date", "datetime"),
)
_TOKEN = re.compile(r"[A-Za-z_.0-9]*[A-Za-z_0-9]|[(),]")
_OVERLOAD = re.compile(r"(?:(.*)\.)?\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\) (.+)")


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function."""

    params: tuple[CelType, ...]
    """With the target of a method first."""
    result: CelType
    method: bool


@cache
def signatures() -> Mapping[str, tuple[Overload, ...]]:
    """The overloads of every function."""
    table: dict[str, tuple[Overload, ...]] = {}
    for row in _ROWS.replace("\\\n", "").strip().splitlines():
        name, _, overloads = row.partition(" ")
        table[name] = tuple(_overload(text.strip()) for text in overloads.split(";"))
    for name in ("_<_", "_<=_", "_>_", "_>=_"):
        table[name] = tuple(_comparisons())
    for name in _NAMED_FORMATS:
        table[f"format.{name}"] = (_overload("() kubernetes.NamedFormat"),)
    return table


def _comparisons() -> list[Overload]:
    alike = [f"({name}, {name}) bool" for name in _ORDERED]
    mixed = [f"({a}, {b}) bool" for a in _NUMERIC for b in _NUMERIC if a != b]
    return [_overload(text) for text in alike + mixed]


def _overload(text: str) -> Overload:
    found = _OVERLOAD.fullmatch(text)
    assert found is not None, f"a signature is misspelt: {text}"
    target, params, result = found.groups()
    given = _types(f"{target}, {params}" if target and params else target or params)
    return Overload(given, _types(result)[0], method=target is not None)


def _types(text: str) -> tuple[CelType, ...]:
    tokens = _TOKEN.findall(text)
    tokens.reverse()
    return _row(tokens)


def _row(tokens: list[str]) -> tuple[CelType, ...]:
    found = []
    while tokens and tokens[-1] != ")":
        name = tokens.pop()
        if name == ",":
            continue
        params: tuple[CelType, ...] = ()
        if tokens and tokens[-1] == "(":
            tokens.pop()
            params = _row(tokens)
            tokens.pop()
        found.append(CelType(name, params))
    return tuple(found)
