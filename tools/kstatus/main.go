// Says how those who wait for objects judge them. Standard input is a JSON array of {"object", "expressions"}: by
// expressions as a Kustomization of Flux may have them, else by the library that Flux, Helm and others use. Standard output
// is an array of {"status", "message"}.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type task struct {
	Object      json.RawMessage `json:"object"`
	Expressions *expressions    `json:"expressions"`
}

type answer struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	if err := judge(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge() error {
	var tasks []task
	if err := json.NewDecoder(os.Stdin).Decode(&tasks); err != nil {
		return fmt.Errorf("cannot read the objects from standard input: %w", err)
	}
	answers := make([]answer, 0, len(tasks))
	for _, each := range tasks {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(each.Object); err != nil {
			return fmt.Errorf("not a Kubernetes object: %w", err)
		}
		compute := status.Compute
		if each.Expressions != nil {
			compute = each.Expressions.compute
		}
		result, err := compute(object)
		if err != nil {
			return fmt.Errorf("cannot judge %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		answers = append(answers, answer{Status: result.Status.String(), Message: result.Message})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
