// Applies objects to an API server as the controllers of Flux and Argo CD do, with their own libraries. The request is JSON on stdin.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type request struct {
	// The path of a kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
	// Argo CD: an Application. Flux: a Kustomization, or a HelmRelease for drift.
	By      owner            `json:"by"`
	Objects []map[string]any `json:"objects"`
}

// The parts of an Application, a Kustomization or a HelmRelease that decide how objects are applied.
type owner struct {
	Metadata struct {
		Name       string   `json:"name"`
		Namespace  string   `json:"namespace"`
		Finalizers []string `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Destination struct {
			Namespace string `json:"namespace"`
		} `json:"destination"`
		SyncPolicy struct {
			Automated *struct {
				Prune bool `json:"prune"`
			} `json:"automated"`
			SyncOptions []string `json:"syncOptions"`
		} `json:"syncPolicy"`
	} `json:"spec"`
}

type command func(ctx context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error)

var commands = map[string]command{
	"argocd-compare": compareByArgo,
	"argocd-sync":    syncByArgo,
	"argocd-delete":  deleteByArgo,
	"flux-apply":     applyByFlux,
	"flux-prune":     pruneByFlux,
	"flux-drift":     driftByFlux,
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 || commands[os.Args[1]] == nil {
		return fmt.Errorf("usage: installers COMMAND <REQUEST")
	}
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", asked.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 1000
	var objects []*unstructured.Unstructured
	for _, content := range asked.Objects {
		// Whole numbers are int64 in it, as the API server's answers give them.
		data, err := json.Marshal(content)
		if err != nil {
			return err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(data); err != nil {
			return err
		}
		objects = append(objects, object)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	answer, err := commands[os.Args[1]](ctx, config, asked.By, objects)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}
