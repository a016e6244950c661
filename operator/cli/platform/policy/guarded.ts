/** The objects that an installation's admission policies guard, read from the policies. */
import type {Client} from '../../../kube/client/client.ts';
import {isNotFound} from '../../../kube/errors.ts';
import {defineResource, type KubeObject, type Resource} from '../../../kube/objects.ts';
import {CommandError} from '../../errors.ts';

type GuardLabels = Readonly<Record<string, string>>;
interface Selector {
  matchLabels?: GuardLabels;
  matchExpressions?: {key: string; operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'; values?: string[]}[];
}
interface GuardRule {
  operations: string[];
  apiGroups: string[];
  resources: string[];
}
interface GuardPolicy extends KubeObject {
  spec: {matchConstraints: {namespaceSelector?: Selector; resourceRules: GuardRule[]}};
}
interface Binding extends KubeObject {
  spec: {
    policyName: string;
    validationActions: Action[];
    matchResources?: {namespaceSelector?: Selector; resourceRules?: GuardRule[]};
  };
}

/** Actions of a policy, the strictest first. */
const actions = ['Deny', 'Warn', 'Audit'] as const;
export type Action = (typeof actions)[number];

const policyKind = {group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false};
const policies = defineResource<GuardPolicy>({
  ...policyKind,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
});
const bindings = defineResource<Binding>({
  ...policyKind,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
});
const secrets = defineResource({group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true});
const labelSelector = 'app.kubernetes.io/part-of=doorplate';

/** Name pattern of a hostname's Secret, as in the chart's policy (templates/admission-policy.yaml). */
export const secretName = /^[a-z0-9-]+-[0-9a-hjkmnp-tv-z]{13}$/;
const nextKeyLabel = 'cert-manager.io/next-private-key';

/** Objects of one kind, in namespaces with some labels, that a policy guards. */
export interface Guarded {
  resource: Resource;
  holds: (object: KubeObject) => boolean;
  /** Whether the policy looks at a namespace at all: it is not excepted. */
  isIn: (namespace: GuardLabels) => boolean;
  /** The strictest that becomes of a write there; undefined where nothing does. */
  actionIn: (namespace: GuardLabels) => Action | undefined;
}

/** Throws CommandError where no policy is installed. */
export async function guardedBy(client: Client): Promise<Guarded[]> {
  const [{items: all}, {items: bound}] = await Promise.all([
    client.list(policies, {labelSelector}),
    client.list(bindings, {labelSelector}),
  ]);
  const ofOthers = all.filter(({metadata: {name}}) => /-(routes|secrets)$/.test(name));
  if (ofOthers.length === 0) {
    throw new CommandError('there is no admission policy: install Doorplate with admissionPolicy.enabled first');
  }
  const served = await kindsServed(client, new Set(ofOthers.flatMap(groupsOf)));
  return ofOthers.flatMap((policy) => {
    const its = bound.filter(
      ({spec}) => spec.policyName === policy.metadata.name && !spec.matchResources?.resourceRules,
    );
    const places = {
      isIn: (labels: GuardLabels) => matches(policy.spec.matchConstraints.namespaceSelector, labels),
      actionIn: (labels: GuardLabels) => strictest(its, labels),
    };
    if (policy.metadata.name.endsWith('-secrets')) return [{resource: secrets, holds: isOfHostname, ...places}];
    const kinds = served.filter((resource) => writtenRules(policy).some((rule) => names(rule, resource)));
    return kinds.map((resource) => ({resource, holds: () => true, ...places}));
  });
}

const isOfHostname = ({metadata: {name, labels}}: KubeObject): boolean =>
  secretName.test(name) || nextKeyLabel in (labels ?? {});

/** Rules for what is created or changed; the status of Doorplate's own kinds is always refused. */
const writtenRules = ({spec}: GuardPolicy): GuardRule[] =>
  spec.matchConstraints.resourceRules.filter(
    ({operations, apiGroups}) => operations.includes('UPDATE') && !apiGroups.includes('doorplate.dev'),
  );
const groupsOf = (policy: GuardPolicy): string[] => writtenRules(policy).flatMap(({apiGroups}) => apiGroups);
const names = ({apiGroups, resources}: GuardRule, {group, plural}: Resource): boolean =>
  apiGroups.includes(group) && resources.some((name) => name === '*' || name === plural);

const strictest = (its: readonly Binding[], labels: GuardLabels): Action | undefined => {
  const here = its.filter(({spec}) => matches(spec.matchResources?.namespaceSelector, labels));
  return actions.find((action) => here.some(({spec}) => spec.validationActions.includes(action)));
};

/** As metav1.LabelSelector: all of it must hold, and what lacks the key is NotIn. */
function matches({matchLabels = {}, matchExpressions = []}: Selector = {}, labels: GuardLabels): boolean {
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    equal &&
    matchExpressions.every(({key, operator, values = []}) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      return (value !== undefined && values.includes(value)) === (operator === 'In');
    })
  );
}

interface Group {
  name: string;
  versions: {version: string}[];
}
interface Served {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

/** Kinds in namespaces that the API server lists, each once, in the first version that has it: the preferred one comes first. */
async function kindsServed(client: Client, wanted: ReadonlySet<string>): Promise<Resource[]> {
  const {groups} = await client.raw<{groups: Group[]}>('/apis');
  const found = new Map<string, Resource>();
  for (const {name: group, versions} of groups.filter(({name}) => wanted.has(name))) {
    for (const {version} of versions) {
      for (const {name, kind, namespaced, verbs} of await resourcesOf(client, `${group}/${version}`)) {
        const at = `${name}.${group}`;
        if (!namespaced || name.includes('/') || !verbs.includes('list') || found.has(at)) continue;
        found.set(at, {group, version, plural: name, kind, namespaced});
      }
    }
  }
  return [...found.values()];
}

/** None where the version has gone since the groups were read. */
async function resourcesOf(client: Client, groupVersion: string): Promise<Served[]> {
  try {
    return (await client.raw<{resources: Served[]}>(`/apis/${groupVersion}`)).resources;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
