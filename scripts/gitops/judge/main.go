// Judges objects as GitOps tools do: by kstatus, which Flux uses, and by a health check in Lua, in
// the interpreter of Argo CD and with no more libraries than it opens.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// What Argo CD lets a script take.
const longest = time.Second

type task struct {
	Script  string           `json:"script"`
	Objects []map[string]any `json:"objects"`
}

type verdict struct {
	Kstatus string `json:"kstatus"`
	Health  string `json:"health"`
	Message string `json:"message"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var given task
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	found := make([]verdict, 0, len(given.Objects))
	for _, object := range given.Objects {
		judged, err := judge(given.Script, object)
		if err != nil {
			return fmt.Errorf("%v: %w", object["kind"], err)
		}
		found = append(found, judged)
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func judge(script string, object map[string]any) (verdict, error) {
	plain, err := json.Marshal(object)
	if err != nil {
		return verdict{}, err
	}
	// As from a server: whole numbers are int64.
	var typed unstructured.Unstructured
	if err := typed.UnmarshalJSON(plain); err != nil {
		return verdict{}, err
	}
	computed, err := status.Compute(&typed)
	if err != nil {
		return verdict{}, err
	}
	health, message, err := check(script, object)
	return verdict{string(computed.Status), health, message}, err
}

func check(script string, object map[string]any) (string, string, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		state.Push(state.NewFunction(open))
		state.Push(lua.LString(name))
		state.Call(1, 0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(script); err != nil {
		return "", "", err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("the script returned %s", state.Get(-1).Type())
	}
	message, _ := table.RawGetString("message").(lua.LString)
	return table.RawGetString("status").String(), string(message), nil
}

func value(state *lua.LState, given any) lua.LValue {
	switch typed := given.(type) {
	case bool:
		return lua.LBool(typed)
	case float64:
		return lua.LNumber(typed)
	case string:
		return lua.LString(typed)
	case []any:
		table := state.NewTable()
		for _, item := range typed {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range typed {
			table.RawSetString(key, value(state, item))
		}
		return table
	}
	return lua.LNil
}
