import type {CustomResourceDefinition, JsonSchema} from '../../operator/api/foreign.ts';
import {certificates} from '../../operator/resources/resources.ts';

/** Versions of cert-manager whose kinds differ. 1.21.0 and 1.21.2 differ by the label only. */
export const certManagerVersions = ['v1.20.3', 'v1.21.0', 'v1.21.2'] as const;
export type CertManagerVersion = (typeof certManagerVersions)[number];

const any = {type: 'object', 'x-kubernetes-preserve-unknown-fields': true};
const text = {type: 'string'};
const object = (properties: Record<string, object>) => ({type: 'object', properties});

/** `spec.renewal` (cert-manager 1.21.2: deploy/crds/cert-manager.io_certificates.yaml). */
const renewal = object({
  policy: {type: 'string', enum: ['RenewBefore', 'Disabled']},
  windows: {type: 'array', items: object({cron: text, timezone: text, windowDuration: text})},
});

/** The kind Certificate as a version of cert-manager's chart installs it, reduced to the fields of `spec` that Doorplate writes. */
export function certificateKind(version: CertManagerVersion): CustomResourceDefinition {
  const spec = object({
    secretName: text,
    dnsNames: {type: 'array', items: text},
    issuerRef: object({name: text, kind: text, group: text}),
    privateKey: object({algorithm: text, size: {type: 'integer'}, rotationPolicy: text}),
    renewBefore: text,
    ...(version !== 'v1.20.3' && {renewal}),
  });
  const schema = {openAPIV3Schema: {...object({spec, status: any}), type: 'object'} as JsonSchema};
  const {group, plural, kind} = certificates;
  const served = {name: 'v1', served: true, storage: true, subresources: {status: {}}, schema};
  const names = {kind, plural, singular: 'certificate', listKind: 'CertificateList'};
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {name: `${plural}.${group}`, labels: {'app.kubernetes.io/version': version}},
    spec: {group, scope: 'Namespaced', names, versions: [served]} as CustomResourceDefinition['spec'],
  };
}
