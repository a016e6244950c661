package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/common"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/hook"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/sync/resource"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

const (
	trackingID = "argocd.argoproj.io/tracking-id"
	manager    = "argocd-controller"
	finalizer  = "resources-finalizer.argocd.argoproj.io"
	stepTime   = 200 * time.Millisecond
)

// One Application, as the application controller of Argo CD sees it: https://github.com/argoproj/argo-cd/tree/master/controller
type argo struct {
	config  *rest.Config
	by      owner
	kubectl *kube.KubectlCmd
	cache   cache.ClusterCache
	// Without the hooks that run when the Application is deleted, as in partitionTargetObjsForSync of state.go.
	targets []*unstructured.Unstructured
	// The post-delete hooks.
	hooks []*unstructured.Unstructured
}

func newArgo(config *rest.Config, by owner, objects []*unstructured.Unstructured) (*argo, error) {
	a := &argo{config: config, by: by, kubectl: &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}}
	for _, object := range objects {
		if isPostDelete(object) {
			a.hooks = append(a.hooks, object)
			continue
		}
		a.track(object)
		a.targets = append(a.targets, object)
	}
	a.cache = cache.NewClusterCache(config, cache.SetLogr(logr.Discard()), cache.SetKubectl(a.kubectl),
		cache.SetPopulateResourceInfoHandler(func(un *unstructured.Unstructured, isRoot bool) (any, bool) {
			isOurs := isRoot && un.GetAnnotations()[trackingID] == a.idOf(un)
			return isOurs, isOurs
		}))
	return a, a.cache.EnsureSynced()
}

// The value of the annotation by which Argo CD knows its objects (util/argo/resource_tracking.go).
func (a *argo) idOf(object *unstructured.Unstructured) string {
	gvk := object.GroupVersionKind()
	return fmt.Sprintf("%s:%s/%s:%s/%s", a.by.Metadata.Name, gvk.Group, gvk.Kind, object.GetNamespace(), object.GetName())
}

// Argo CD tracks no CRD (reposerver/repository/repository.go), so it never deletes one.
func (a *argo) track(object *unstructured.Unstructured) {
	if kube.IsCRD(object) {
		return
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[trackingID] = a.idOf(object)
	object.SetAnnotations(annotations)
}

func (a *argo) option(name string) bool {
	return slices.Contains(a.by.Spec.SyncPolicy.SyncOptions, name)
}

func isPostDelete(object *unstructured.Unstructured) bool {
	return resource.HasAnnotationOption(object, "helm.sh/hook", "post-delete")
}

// The difference of one object, as JSON before and after.
type difference struct {
	Live    json.RawMessage `json:"live"`
	Desired json.RawMessage `json:"desired"`
}

func (a *argo) reconcile() (sync.ReconciliationResult, error) {
	var targets []*unstructured.Unstructured
	for _, target := range a.targets {
		targets = append(targets, target.DeepCopy())
	}
	live, err := a.cache.GetManagedLiveObjs(targets, func(r *cache.Resource) bool { return r.Info == true })
	if err != nil {
		return sync.ReconciliationResult{}, err
	}
	return sync.Reconcile(targets, live, a.by.Spec.Destination.Namespace, a.cache), nil
}

// Argo CD ignores every status unless it is told otherwise (GetResourceOverrides of util/settings/settings.go).
type withoutStatus struct{}

func (withoutStatus) Normalize(object *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(object.Object, "status")
	return nil
}

// Returns, by object, why the Application is OutOfSync.
func compareByArgo(_ context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error) {
	a, err := newArgo(config, by, objects)
	if err != nil {
		return nil, err
	}
	result, err := a.reconcile()
	if err != nil {
		return nil, err
	}
	found, err := diff.DiffArray(result.Target, result.Live, diff.WithLogr(logr.Discard()), diff.WithNormalizer(withoutStatus{}),
		diff.WithStructuredMergeDiff(a.option(common.SyncOptionServerSideApply)), diff.WithGVKParser(a.cache.GetGVKParser()), diff.WithManager(manager))
	if err != nil {
		return nil, err
	}
	differences := map[string]difference{}
	for i, one := range found.Diffs {
		if object := result.Target[i]; one.Modified || object == nil || result.Live[i] == nil {
			if object == nil {
				object = result.Live[i]
			}
			if !hook.IsHook(object) {
				differences[object.GetKind()+"/"+object.GetName()] = difference{Live: one.NormalizedLive, Desired: one.PredictedLive}
			}
		}
	}
	return differences, nil
}

type outcome struct {
	Phase   common.OperationPhase `json:"phase"`
	Message string                `json:"message"`
	// By object.
	Results map[string]string `json:"results"`
}

// Syncs until the operation ends. The options are those of controller/sync.go.
func syncByArgo(ctx context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error) {
	a, err := newArgo(config, by, objects)
	if err != nil {
		return nil, err
	}
	foreground, started := metav1.DeletePropagationForeground, metav1.Now()
	phase, message, results := common.OperationRunning, "", []common.ResourceSyncResult(nil)
	for {
		result, err := a.reconcile()
		if err != nil {
			return nil, err
		}
		options := []sync.SyncOpt{
			sync.WithLogr(logr.Discard()),
			sync.WithOperationSettings(false, by.Spec.SyncPolicy.Automated.Prune, false, false),
			sync.WithInitialState(phase, message, results, started),
			sync.WithManifestValidation(true),
			sync.WithPrunePropagationPolicy(&foreground),
			sync.WithServerSideApply(a.option(common.SyncOptionServerSideApply)),
			sync.WithServerSideApplyManager(manager),
			sync.WithClientSideApplyMigration(true, common.DefaultClientSideApplyMigrationManager),
		}
		if a.option("CreateNamespace=true") {
			options = append(options, sync.WithNamespaceModifier(func(_, live *unstructured.Unstructured) (bool, error) { return live == nil, nil }))
		}
		syncing, cleanup, err := sync.NewSyncContext("revision", result, config, config, a.kubectl, by.Spec.Destination.Namespace, options...)
		if err != nil {
			return nil, err
		}
		syncing.Sync()
		phase, message, results = syncing.GetState()
		cleanup()
		if phase.Completed() || ctx.Err() != nil {
			break
		}
		time.Sleep(stepTime)
	}
	said := outcome{Phase: phase, Message: message, Results: map[string]string{}}
	for _, one := range results {
		said.Results[one.ResourceKey.Kind+"/"+one.ResourceKey.Name] = string(one.Status) + ": " + one.Message
	}
	return said, nil
}

// The objects of the Application that exist, of these or of all kinds.
func (a *argo) live(matches func(*unstructured.Unstructured) bool) (map[kube.ResourceKey]*unstructured.Unstructured, error) {
	objects, err := a.cache.GetManagedLiveObjs(nil, func(r *cache.Resource) bool { return r.Info == true })
	for key, object := range objects {
		if !matches(object) {
			delete(objects, key)
		}
	}
	return objects, err
}

// shouldBeDeleted of controller/appcontroller.go
func shouldBeDeleted(object *unstructured.Unstructured) bool {
	return !kube.IsCRD(object) && !isPostDelete(object) && !resource.HasAnnotationOption(object, "argocd.argoproj.io/sync-options", "Delete=false") &&
		!resource.HasAnnotationOption(object, "helm.sh/resource-policy", "keep")
}

// Deletes the Application's objects if it has the finalizer for that. Then runs its post-delete hooks, in either case. Returns the names of the
// deleted objects and of the hooks. See finalizeApplicationDeletion of controller/appcontroller.go, executeHooks and cleanupHooks of
// controller/hook.go.
func deleteByArgo(ctx context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error) {
	a, err := newArgo(config, by, objects)
	if err != nil {
		return nil, err
	}
	deleted := []string{}
	if slices.ContainsFunc(by.Metadata.Finalizers, func(one string) bool { return strings.HasPrefix(one, finalizer) }) {
		policy := metav1.DeletePropagationForeground
		if slices.Contains(by.Metadata.Finalizers, finalizer+"/background") {
			policy = metav1.DeletePropagationBackground
		}
		if deleted, err = a.deleteAll(ctx, shouldBeDeleted, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
			return nil, err
		}
	}
	if err := a.runHooks(ctx); err != nil {
		return nil, err
	}
	ran, err := a.deleteAll(ctx, func(object *unstructured.Unstructured) bool {
		return isPostDelete(object) && slices.Contains(hook.DeletePolicies(object), common.HookDeletePolicyHookSucceeded)
	}, metav1.DeleteOptions{})
	return map[string][]string{"deleted": deleted, "hooks": ran}, err
}

// Deletes at once what matches, and waits until it is gone.
func (a *argo) deleteAll(ctx context.Context, matches func(*unstructured.Unstructured) bool, options metav1.DeleteOptions) ([]string, error) {
	objects, err := a.live(matches)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, object := range objects {
		names = append(names, object.GetKind()+"/"+object.GetName())
		err := a.kubectl.DeleteResource(ctx, a.config, object.GroupVersionKind(), object.GetName(), object.GetNamespace(), options)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, a.until(ctx, func() (bool, error) {
		left, err := a.live(matches)
		return len(left) == 0, err
	})
}

func (a *argo) runHooks(ctx context.Context) error {
	for _, object := range a.hooks {
		a.track(object)
		_, err := a.kubectl.CreateResource(ctx, a.config, object.GroupVersionKind(), object.GetName(), object.GetNamespace(), object, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return a.until(ctx, func() (bool, error) {
		running, err := a.live(isPostDelete)
		if err != nil || len(running) < len(a.hooks) {
			return false, err
		}
		for _, object := range running {
			found, err := health.GetResourceHealth(object, nil)
			if err != nil || found != nil && found.Status != health.HealthStatusHealthy {
				return false, err
			}
		}
		return true, nil
	})
}

func (a *argo) until(ctx context.Context, isSo func() (bool, error)) error {
	for {
		if ok, err := isSo(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(stepTime):
		}
	}
}
