import {randomBytes} from 'node:crypto';
import {setTimeout as wait} from 'node:timers/promises';
import {nextLookMs} from '../../cluster/polling.ts';
import type {Client} from '../../operator/kube/client/client.ts';
import {defineResource, type KubeObject, type Resource} from '../../operator/kube/objects.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
export interface Widget extends KubeObject {
  spec?: {size?: number};
  status?: {seen?: number; words?: string[]};
}

export const configMaps = defineResource<ConfigMap>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});
export const namespaces = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
});
export const crds = defineResource<KubeObject & {status?: {conditions?: {type: string; status: string}[]}}>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

/** A namespace of a test's own; its name. */
export async function makeNamespace(client: Client): Promise<string> {
  const namespace = `kit-${randomBytes(4).toString('hex')}`;
  await client.create(namespaces, {apiVersion: 'v1', kind: 'Namespace', metadata: {name: namespace}});
  return namespace;
}

/** A kind with a status subresource that no controller of Kubernetes touches. */
export async function makeWidgets(
  client: Client,
  group = `kit-${randomBytes(4).toString('hex')}.test`,
): Promise<Resource<Widget>> {
  const widgets = defineResource<Widget>({group, version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true});
  const open = {type: 'object', 'x-kubernetes-preserve-unknown-fields': true};
  await client.create(crds, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {name: `widgets.${group}`},
    spec: {
      group,
      scope: 'Namespaced',
      names: {plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList'},
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {status: {}},
          schema: {openAPIV3Schema: {type: 'object', properties: {spec: open, status: open}}},
        },
      ],
    },
  } as KubeObject);
  await eventually(() => client.list(widgets, {}));
  return widgets;
}

/** Tries until it neither throws nor answers false, the more seldom the longer it takes; after `withinMs` the last error. */
export async function eventually<T>(attempt: () => T | Promise<T>, withinMs = 300_000): Promise<T> {
  const began = Date.now();
  for (;;) {
    const waitedMs = Date.now() - began;
    try {
      const value = await attempt();
      if (value !== false) return value;
      throw new Error(`not so: ${String(attempt)}`);
    } catch (error) {
      if (waitedMs > withinMs) throw error;
    }
    await wait(nextLookMs(waitedMs));
  }
}
