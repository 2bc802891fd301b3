// Tables prints facts about Kubernetes' built-in kinds, taken from their Go types by reflection:
// `types` prints what the tags of every field say, `samples` prints an object of every kind as
// protobuf and as JSON. Both are printed as JSON, for the Python program beside this one.
package main

import (
	"encoding/json"
	"os"
)

func main() {
	var found any
	switch os.Args[1] {
	case "types":
		found = reflectTypes()
	case "samples":
		found = samples()
	default:
		panic("expected types or samples, got " + os.Args[1])
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
