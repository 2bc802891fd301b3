package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Field is what a struct's tags say about one of its fields.
type Field struct {
	Name     string `json:"name"`            // in JSON; empty for a message flattened into its parent
	Number   int    `json:"number"`          // in protobuf; 0 for what only JSON has
	Type     string `json:"type"`            // see typeName
	Always   bool   `json:"always"`          // written to JSON even when empty
	Merge    string `json:"merge,omitempty"` // the key that strategic merge tells a list's items apart by
	Strategy string `json:"strategy,omitempty"`
}

// Types is what reflection finds: the type of every kind, and the fields of every type.
type Types struct {
	Kinds    map[string]string  `json:"kinds"`
	Messages map[string][]Field `json:"messages"`
}

// Types whose JSON form is no map of their fields. The last three are unions: whichever of their
// members is set is their JSON form.
var leaves = map[string]string{
	"meta.v1.Time":          "time",
	"meta.v1.MicroTime":     "microtime",
	"meta.v1.FieldsV1":      "json",
	"runtime.RawExtension":  "json",
	"apiextensions.v1.JSON": "json",
	"resource.Quantity":     "quantity",
	"intstr.IntOrString":    "intorstring",
}

func reflectTypes() Types {
	found := Types{map[string]string{}, map[string][]Field{}}
	for _, kind := range kinds() {
		found.Kinds[kind.Label()] = found.visit(kind.Type)
	}
	return found
}

// visit adds a struct type and everything below it, and returns its name.
func (t Types) visit(kind reflect.Type) string {
	name := shortName(kind)
	if _, known := t.Messages[name]; known {
		return name
	}
	t.Messages[name] = nil
	fields := []Field{}
	for i := range kind.NumField() {
		fields = append(fields, t.fields(kind.Field(i))...)
	}
	t.Messages[name] = fields
	return name
}

func (t Types) fields(field reflect.StructField) []Field {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	number := wireNumber(field)
	if strings.Contains(options, "inline") && number == 0 {
		// TypeMeta: the envelope carries it in protobuf.
		return []Field{{Name: "kind", Type: "string"}, {Name: "apiVersion", Type: "string"}}
	}
	omitted := "omitempty"
	if field.Type.Kind() == reflect.Struct {
		omitted = "omitzero"
	}
	if name == "" && !strings.Contains(options, "inline") {
		name = field.Name // a member of a union
	}
	return []Field{{
		Name:     name,
		Number:   number,
		Type:     t.typeName(field.Type),
		Always:   !strings.Contains(options, omitted),
		Merge:    field.Tag.Get("patchMergeKey"),
		Strategy: field.Tag.Get("patchStrategy"),
	}}
}

// typeName spells a type: string, bool, int32, int64, float64, bytes, a leaf or a message; with
// * for a pointer, [] for a list, {} for a map from strings, and () for a list that is a message
// of its own on the wire. The name that Go gives a plain type follows: string v1.RestartPolicy.
func (t Types) typeName(kind reflect.Type) string {
	if leaf, found := leaves[shortName(kind)]; found {
		return leaf
	}
	switch kind.Kind() {
	case reflect.Pointer:
		return "*" + t.typeName(kind.Elem())
	case reflect.Map:
		if kind.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("%v: expected strings as the keys of a map", kind))
		}
		return "{}" + t.typeName(kind.Elem())
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		if _, message := reflect.PointerTo(kind).MethodByName("Unmarshal"); message {
			return "()" + t.typeName(kind.Elem())
		}
		return "[]" + t.typeName(kind.Elem())
	case reflect.Struct:
		return t.visit(kind)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		if kind.PkgPath() != "" {
			return kind.Kind().String() + " " + kind.String()
		}
		return kind.String()
	}
	panic(fmt.Sprintf("%v: a type nobody has met yet", kind))
}

func wireNumber(field reflect.StructField) int {
	tag := field.Tag.Get("protobuf")
	if tag == "" || tag == "-" {
		return 0
	}
	number, err := strconv.Atoi(strings.Split(tag, ",")[1])
	if err != nil {
		panic(fmt.Sprintf("%s: expected a number in the tag %q", field.Name, tag))
	}
	return number
}

// shortName spells a type by the last words of its package: k8s.io/api/core/v1.Pod is core.v1.Pod.
func shortName(kind reflect.Type) string {
	path := strings.Split(kind.PkgPath(), "/")
	if last := path[len(path)-1]; len(path) > 1 && strings.HasPrefix(last, "v") {
		return path[len(path)-2] + "." + last + "." + kind.Name()
	}
	return path[len(path)-1] + "." + kind.Name()
}
