// Says how the library that Flux, Helm and others use for "is it ready?" judges objects. Standard input is a JSON array of
// Kubernetes objects; standard output is an array of {"status", "message"}.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
	var texts []json.RawMessage
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		return fmt.Errorf("cannot read the objects from standard input: %w", err)
	}
	answers := make([]answer, 0, len(texts))
	for _, text := range texts {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			return fmt.Errorf("not a Kubernetes object: %w", err)
		}
		result, err := status.Compute(object)
		if err != nil {
			return fmt.Errorf("cannot judge %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		answers = append(answers, answer{Status: result.Status.String(), Message: result.Message})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
