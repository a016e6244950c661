package main

import (
	"context"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/jsondiff"
	"github.com/fluxcd/pkg/ssa/normalize"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const kustomizeGroup = "kustomize.toolkit.fluxcd.io"

func kustomizeManager(config *rest.Config) (*ssa.ResourceManager, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{})
	return ssa.NewResourceManager(c, poller, ssa.Owner{Field: "kustomize-controller", Group: kustomizeGroup}), nil
}

// Returns what became of each object: created, configured, unchanged or skipped. The options are those of kustomize-controller:
// https://github.com/fluxcd/kustomize-controller/blob/main/internal/controller/kustomization_controller.go, apply
func applyByFlux(ctx context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error) {
	manager, err := kustomizeManager(config)
	if err != nil {
		return nil, err
	}
	manager.SetOwnerLabels(objects, by.Metadata.Name, by.Metadata.Namespace)
	if err := normalize.UnstructuredList(objects); err != nil {
		return nil, err
	}
	options := ssa.DefaultApplyOptions()
	options.ExclusionSelector = map[string]string{kustomizeGroup + "/reconcile": "disabled", kustomizeGroup + "/ssa": "Ignore"}
	options.IfNotPresentSelector = map[string]string{kustomizeGroup + "/ssa": "IfNotPresent"}
	options.ForceSelector = map[string]string{kustomizeGroup + "/force": "enabled"}
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "kustomize-controller", OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{kustomizeGroup + "/ssa": "Merge"},
	}
	changes, err := manager.ApplyAllStaged(ctx, objects, options)
	if err != nil {
		return nil, err
	}
	return changes.ToMap(), nil
}

// Returns what became of each object: deleted or skipped. The options are those of kustomize-controller: deleteObjects, in the same file
func pruneByFlux(ctx context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error) {
	manager, err := kustomizeManager(config)
	if err != nil {
		return nil, err
	}
	changes, err := manager.DeleteAll(ctx, objects, ssa.DeleteOptions{
		PropagationPolicy: metav1.DeletePropagationBackground,
		Inclusions:        manager.GetOwnerLabels(by.Metadata.Name, by.Metadata.Namespace),
		Exclusions: map[string]string{
			kustomizeGroup + "/prune":     "disabled",
			kustomizeGroup + "/reconcile": "disabled",
			kustomizeGroup + "/ssa":       "Ignore",
		},
	})
	if err != nil {
		return nil, err
	}
	return changes.ToMap(), nil
}

// Returns, by object, what helm-controller would change with driftDetection. Objects are the manifest of the release:
// https://github.com/fluxcd/helm-controller/blob/main/internal/action/diff.go
func driftByFlux(ctx context.Context, config *rest.Config, by owner, objects []*unstructured.Unstructured) (any, error) {
	dryRun := true
	c, err := client.New(config, client.Options{DryRun: &dryRun})
	if err != nil {
		return nil, err
	}
	if err := normalize.UnstructuredListWithScheme(objects, c.Scheme()); err != nil {
		return nil, err
	}
	for _, object := range objects {
		labels, annotations := object.GetLabels(), object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		labels["app.kubernetes.io/managed-by"] = "Helm"
		annotations["meta.helm.sh/release-name"] = by.Metadata.Name
		annotations["meta.helm.sh/release-namespace"] = by.Metadata.Namespace
		object.SetLabels(labels)
		object.SetAnnotations(annotations)
	}
	set, err := jsondiff.UnstructuredList(ctx, c, objects,
		jsondiff.FieldOwner("helm-controller"),
		jsondiff.ExclusionSelector{"helm.toolkit.fluxcd.io/driftDetection": "disabled"},
		jsondiff.Rationalize(true),
		jsondiff.Graceful(true),
	)
	if err != nil {
		return nil, err
	}
	drift := map[string]any{}
	for _, found := range set {
		if found.Type != jsondiff.DiffTypeNone {
			drift[found.GroupVersionKind().Kind+"/"+found.GetName()] = map[string]any{"type": found.Type, "patch": found.Patch}
		}
	}
	return drift, nil
}
