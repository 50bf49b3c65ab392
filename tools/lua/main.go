// Runs Lua scripts as Argo CD does, with the interpreter that Argo CD uses. Standard input is a JSON array of
// {"script", "object"}; standard output is an array of what the scripts return, as {"result"} or {"error"}.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

type task struct {
	Script string         `json:"script"`
	Object map[string]any `json:"object"`
}

type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
}

func main() {
	var tasks []task
	if err := json.NewDecoder(os.Stdin).Decode(&tasks); err != nil {
		fmt.Fprintf(os.Stderr, "Cannot read the tasks from standard input: %v\n", err)
		os.Exit(1)
	}
	answers := make([]answer, 0, len(tasks))
	for _, each := range tasks {
		result, err := run(each)
		if err != nil {
			answers = append(answers, answer{Error: err.Error()})
			continue
		}
		answers = append(answers, answer{Result: result})
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintf(os.Stderr, "Cannot write the answers: %v\n", err)
		os.Exit(1)
	}
}

// The libraries that Argo CD opens for scripts from its ConfigMap: no strings, no mathematics, no files. Scripts of its own
// repository may use more, so what runs here runs in both places.
func run(t task) (json.RawMessage, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	libraries := []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
		{lua.OsLibName, lua.OpenOs},
	}
	for _, library := range libraries {
		call := lua.P{Fn: state.NewFunction(library.open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(library.name)); err != nil {
			return nil, err
		}
	}
	onlyTime(state)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(ctx)
	state.SetGlobal("obj", luajson.DecodeValue(state, t.Object))
	if err := state.DoString(t.Script); err != nil {
		return nil, err
	}
	returned := state.Get(-1)
	if returned.Type() != lua.LTTable {
		return nil, fmt.Errorf("expect table output from Lua script, not %s", returned.Type())
	}
	return luajson.Encode(returned)
}

// Of the os library Argo CD gives time and date.
func onlyTime(state *lua.LState) {
	table, ok := state.GetGlobal(lua.OsLibName).(*lua.LTable)
	if !ok {
		return
	}
	var others []lua.LValue
	table.ForEach(func(name, _ lua.LValue) {
		if text := name.String(); text != "time" && text != "date" {
			others = append(others, name)
		}
	})
	for _, name := range others {
		table.RawSet(name, lua.LNil)
	}
}
