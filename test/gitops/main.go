// Says what the real tools make of objects: kstatus, a health check of Argo CD, and Flux with its healthCheckExprs.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	luajson "layeh.com/gopher-json"
)

// What is asked, as JSON on stdin.
type cases struct {
	// By kind, the source of its check.
	Lua map[string]string `json:"lua"`
	// As a Kustomization of Flux has them in spec.healthCheckExprs.
	Flux    []kustomize.CustomHealthCheck `json:"flux"`
	Objects []map[string]any              `json:"objects"`
}

// What is answered for each object, in their order.
type judgement struct {
	Kstatus status.Status `json:"kstatus"`
	ArgoCD  health        `json:"argoCD"`
	Flux    status.Status `json:"flux"`
}

type health struct {
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
	var asked cases
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	evaluators := map[string]*cel.StatusEvaluator{}
	for _, check := range asked.Flux {
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			return fmt.Errorf("%s: %w", check.Kind, err)
		}
		evaluators[check.Kind] = evaluator
	}
	answer := json.NewEncoder(os.Stdout)
	for _, content := range asked.Objects {
		said, err := judgeObject(content, asked.Lua, evaluators)
		if err != nil {
			return fmt.Errorf("%v: %w", content, err)
		}
		if err := answer.Encode(said); err != nil {
			return err
		}
	}
	return nil
}

func judgeObject(content map[string]any, checks map[string]string, evaluators map[string]*cel.StatusEvaluator) (judgement, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return judgement{}, err
	}
	// Whole numbers are int64 in it, as the API server's answers give them.
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		return judgement{}, err
	}
	kstatus, err := status.Compute(object)
	if err != nil {
		return judgement{}, err
	}
	// Where a kind has no expressions of its own, Flux goes by kstatus.
	flux := kstatus
	if evaluator, ok := evaluators[object.GetKind()]; ok {
		if flux, err = evaluator.Evaluate(context.Background(), object); err != nil {
			return judgement{}, err
		}
	}
	said, err := runCheck(checks[object.GetKind()], data)
	return judgement{Kstatus: kstatus.Status, ArgoCD: said, Flux: flux.Status}, err
}

// With the libraries that Argo CD allows (util/lua/lua.go in its repository): not for its own checks, for those that a platform sets
// in argocd-cm. Its os library is left out. Argo CD allows a second; a busy machine has a minute for these few lines.
func runCheck(script string, object []byte) (health, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l.SetContext(ctx)
	decoded, err := luajson.Decode(l, object)
	if err != nil {
		return health{}, err
	}
	l.SetGlobal("obj", decoded)
	if err := l.DoString(script); err != nil {
		return health{}, err
	}
	encoded, err := luajson.Encode(l.Get(-1))
	if err != nil {
		return health{}, err
	}
	var said health
	return said, json.Unmarshal(encoded, &said)
}
