package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Sample is an object as a Go client sends it in protobuf, and the JSON that Go makes of it.
type Sample struct {
	Kind     string          `json:"kind"`
	Case     string          `json:"case"`
	Protobuf []byte          `json:"protobuf"`
	JSON     json.RawMessage `json:"json"`
}

// samples makes three objects of every kind: one in which nothing is set, one in which everything
// is set, and one in which every pointer, list and map holds nothing but empty values.
func samples() []Sample {
	found := []Sample{}
	full, hollow := Filler{seen: map[reflect.Type]bool{}}, Filler{seen: map[reflect.Type]bool{}, hollow: true}
	for _, kind := range kinds() {
		empty, filled, hollowed := reflect.New(kind.Type), reflect.New(kind.Type), reflect.New(kind.Type)
		full.fill(filled.Elem())
		hollow.fill(hollowed.Elem())
		found = append(found, encode(kind, "empty", empty), encode(kind, "full", filled), encode(kind, "hollow", hollowed))
	}
	return found
}

// encode shows an object in both forms. Its JSON is made from what was read back, because
// protobuf cannot tell an absent list from an empty one.
func encode(kind Kind, name string, value reflect.Value) Sample {
	sent := value.Interface().(runtime.Object)
	sent.GetObjectKind().SetGroupVersionKind(kind.Version.WithKind(kind.Name))
	var wire bytes.Buffer
	must(protobuf.NewSerializer(nil, nil).Encode(sent, &wire))

	unknown := runtime.Unknown{}
	must(unknown.Unmarshal(wire.Bytes()[4:]))
	received := reflect.New(kind.Type).Interface().(runtime.Object)
	must(received.(interface{ Unmarshal([]byte) error }).Unmarshal(unknown.Raw))
	received.GetObjectKind().SetGroupVersionKind(kind.Version.WithKind(kind.Name))
	text, err := json.Marshal(received)
	must(err)
	return Sample{kind.Label(), name, wire.Bytes(), text}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Filler sets the fields of objects. A type is set in full where it is met first and only in its
// plain fields later, which keeps the samples small and ends recursion.
type Filler struct {
	seen    map[reflect.Type]bool
	hollow  bool
	counter int
}

func (f *Filler) next() int {
	f.counter++
	return f.counter
}

func (f *Filler) fill(value reflect.Value) {
	if f.leaf(value) {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem())
	case reflect.Struct:
		f.fields(value)
	case reflect.Map:
		value.Set(reflect.MakeMap(value.Type()))
		for range 2 {
			key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
			f.fill(key)
			f.fill(item)
			value.SetMapIndex(key, item)
		}
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 2, 2))
		f.fill(value.Index(0))
		f.fill(value.Index(1))
	default:
		f.scalar(value)
	}
}

func (f *Filler) fields(value reflect.Value) {
	brief := f.seen[value.Type()]
	f.seen[value.Type()] = true
	if value.Type() == reflect.TypeFor[meta.TypeMeta]() {
		return
	}
	for i := range value.NumField() {
		if field := value.Field(i); !brief || plain(field.Kind()) {
			f.fill(field)
		}
	}
}

func plain(kind reflect.Kind) bool {
	return kind != reflect.Pointer && kind != reflect.Struct && kind != reflect.Map && kind != reflect.Slice
}

func (f *Filler) scalar(value reflect.Value) {
	if f.hollow {
		return
	}
	number := f.next()
	switch value.Kind() {
	case reflect.String:
		value.SetString(strconv.FormatInt(int64(number), 36))
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int32, reflect.Int64:
		value.SetInt(int64(number) * int64(1-number%3)) // positive, zero and negative
	case reflect.Float64:
		value.SetFloat(float64(number) + 0.5)
	case reflect.Uint8:
		value.SetUint(uint64(number % 256))
	}
}

// leaf sets a value whose JSON is no map of its fields, and says whether it was one.
func (f *Filler) leaf(value reflect.Value) bool {
	var filled any
	switch value.Interface().(type) {
	case meta.Time:
		filled = meta.NewTime(time.Unix(1e9+int64(f.next()), 5e8))
	case meta.MicroTime:
		filled = meta.NewMicroTime(time.Unix(1e9, int64(f.next())*1e6))
	case resource.Quantity:
		filled = resource.MustParse(quantities[f.next()%len(quantities)])
	case intstr.IntOrString:
		filled = []intstr.IntOrString{intstr.FromInt32(-8), intstr.FromString("50%")}[f.next()%2]
	case runtime.RawExtension:
		filled = runtime.RawExtension{Raw: []byte(`{"raw":[1,null,"é"]}`)}
	case meta.FieldsV1:
		filled = meta.FieldsV1{Raw: []byte(`{"f:metadata":{".":{}}}`)}
	case apiextensions.JSON:
		filled = apiextensions.JSON{Raw: []byte(`{"json":1.5}`)}
	default:
		return false
	}
	if !f.hollow {
		value.Set(reflect.ValueOf(filled))
	}
	return true
}

var quantities = []string{"100m", "1Gi", "2", "1500Mi", "0"}
