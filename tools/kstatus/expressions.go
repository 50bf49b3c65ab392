package main

import (
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// healthCheckExprs of a Kustomization. They are evaluated here as its documentation says, as Flux's own code for it brings
// half of a controller along.
type expressions struct {
	InProgress string `json:"inProgress"`
	Failed     string `json:"failed"`
	Current    string `json:"current"`
}

// An object of an older generation is in progress; then the first expression that is true counts.
func (e *expressions) compute(object *unstructured.Unstructured) (*status.Result, error) {
	observed, found, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	if err != nil {
		return nil, err
	}
	if found && observed != object.GetGeneration() {
		return &status.Result{Status: status.InProgressStatus}, nil
	}
	inOrder := []struct {
		text   string
		status status.Status
	}{{e.InProgress, status.InProgressStatus}, {e.Failed, status.FailedStatus}, {e.Current, status.CurrentStatus}}
	for _, each := range inOrder {
		if each.text == "" {
			continue
		}
		isTrue, err := evaluate(each.text, object.Object)
		if err != nil {
			return nil, err
		}
		if isTrue {
			return &status.Result{Status: each.status}, nil
		}
	}
	return &status.Result{Status: status.InProgressStatus}, nil
}

func evaluate(text string, object map[string]any) (bool, error) {
	env, err := cel.NewEnv(
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		ext.Strings(),
		ext.Sets(),
		ext.Encoders(),
	)
	if err != nil {
		return false, err
	}
	parsed, issues := env.Parse(text)
	if issues != nil {
		return false, issues.Err()
	}
	program, err := env.Program(parsed)
	if err != nil {
		return false, err
	}
	value, _, err := program.Eval(object)
	if err != nil {
		return false, fmt.Errorf("%s: %w", text, err)
	}
	isTrue, ok := value.Value().(bool)
	if !ok {
		return false, fmt.Errorf("%s is %v, and should be true or false", text, value)
	}
	return isTrue, nil
}
