/**
 * The parts of objects' metadata that caches keep. Users can fill the labels, annotations, finalizers and owners of their objects up to
 * 1.5 MiB; a few hundred of these objects would use all memory of a process. Caches therefore keep only the members that are read, bounded
 * in size.
 */
import {liftBanAnnotation} from '../api/api-key.ts';
import {longestStop, reissueAnnotation, requestAnnotations, stopAnnotation} from '../api/custom-domain.ts';
import {cut} from '../api/rules.ts';
import {privateKeyAnnotation, retainedLabel} from '../domain/certificates/certificate.ts';
import {entryPointsAnnotation} from '../domain/routes/ingress.ts';
import {retainedForAnnotation, retainedUntilAnnotation} from '../domain/certificates/retained.ts';
import {keptFinalizers} from '../kube/writes/finalizer.ts';
import type {HasMeta, ObjectMeta} from '../kube/objects.ts';
import {forAnnotation, intentAnnotation, managedBy, ownerLabel} from './labels.ts';

/** On a Project or a CustomDomain while Doorplate has something to take down when it goes. */
export const finalizer = 'doorplate.dev/routes';

/**
 * Whether an object is being deleted and Doorplate has cleaned up after it. Only other finalizers keep it, for as long as they want, so it
 * no longer owns anything.
 */
export const isCleanedUp = ({metadata: {deletionTimestamp, finalizers = []}}: HasMeta): boolean =>
  deletionTimestamp !== undefined && !finalizers.includes(finalizer);

/** Characters of the value by which somebody asks for a check. */
export const longestRequest = 256;
/** Characters of the value that lifts a ban. */
export const longestLift = 256;

/** Identity and version of an object. */
export const identity = ({name, namespace, uid, resourceVersion}: ObjectMeta): ObjectMeta => ({
  name,
  namespace,
  uid,
  resourceVersion,
});

const withAge = ({generation, creationTimestamp, deletionTimestamp, ...rest}: ObjectMeta): ObjectMeta => ({
  ...identity(rest),
  ...(generation !== undefined && {generation}),
  ...(creationTimestamp !== undefined && {creationTimestamp}),
  ...(deletionTimestamp !== undefined && {deletionTimestamp}),
});

type Texts = Readonly<Record<string, string>> | undefined;

/** The members of these names, cut to so many characters; undefined where there is none. */
function only(all: Texts, names: readonly string[], longest: number): Record<string, string> | undefined {
  const found = names.flatMap((name): [string, string][] => {
    const value = all?.[name];
    return value === undefined ? [] : [[name, value.length <= longest ? value : copied(cut(value, longest))]];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** A part of a text that is no longer a part of it: V8 keeps the whole in memory as long as there is a part. */
const copied = (part: string): string => Buffer.from(part).toString();

const members = (labels: Record<string, string> | undefined, annotations: Record<string, string> | undefined) => ({
  ...(labels && {labels}),
  ...(annotations && {annotations}),
});

/** An object without what nobody here reads of its metadata. */
export const bare = <T extends HasMeta>(object: T): T => ({...object, metadata: withAge(object.metadata)});

/** The annotations that users write for Doorplate. A value of `doorplate.dev/stop` that is too long stays too long. */
function written(annotations: Texts): Record<string, string> | undefined {
  const requests = only(annotations, [...requestAnnotations, reissueAnnotation], longestRequest);
  const stop = only(annotations, [stopAnnotation], longestStop + 1);
  return requests || stop ? {...requests, ...stop} : undefined;
}

/** The same for a Project or a CustomDomain, with its finalizers and the annotations that users write for Doorplate. */
export function bareOwner<T extends HasMeta>(object: T): T {
  const {annotations, finalizers} = object.metadata;
  const kept = keptFinalizers(finalizers, finalizer);
  return {
    ...object,
    metadata: {
      ...withAge(object.metadata),
      ...members(undefined, written(annotations)),
      ...(kept && {finalizers: kept}),
    },
  };
}

/** The same of an ApiKey: with what lifts its ban. */
export const bareKey = <T extends HasMeta>(key: T): T => ({
  ...key,
  metadata: {
    ...withAge(key.metadata),
    ...members(undefined, only(key.metadata.annotations, [liftBanAnnotation], longestLift)),
  },
});

/** Characters of what Doorplate and cert-manager write themselves into the metadata of an object. */
const longestOwn = 512;
/** An object of ours has one owner; more are somebody's attempt. */
const mostOwners = 8;
/** These hold a removal up, and are taken off by one (kube/writes/apply.ts). */
const collectors: ReadonlySet<string> = new Set(['foregroundDeletion', 'orphan']);

const childLabels = [...Object.keys(managedBy), ownerLabel, retainedLabel];
const childAnnotations = [
  forAnnotation,
  intentAnnotation,
  entryPointsAnnotation,
  retainedForAnnotation,
  retainedUntilAnnotation,
  privateKeyAnnotation,
];

/** The same for objects that Doorplate has written, with Doorplate's labels and annotations and the finalizers that delay their removal. */
export function bareOwnedObject<T extends HasMeta>(object: T): T {
  const {labels, annotations, ownerReferences, finalizers = []} = object.metadata;
  const held = finalizers.filter((name) => collectors.has(name));
  return {
    ...object,
    metadata: {
      ...withAge(object.metadata),
      ...members(only(labels, childLabels, longestOwn), only(annotations, childAnnotations, longestOwn)),
      ...(ownerReferences && {ownerReferences: ownerReferences.slice(0, mostOwners)}),
      ...(held.length > 0 && {finalizers: held}),
    },
  };
}

/** Annotations by which a CertificateRequest names its Certificate and attempt. */
const requestOf = ['cert-manager.io/certificate-name', 'cert-manager.io/certificate-revision'] as const;

/** The metadata of a CertificateRequest. */
export const requestMeta = ({labels, annotations, ownerReferences, ...metadata}: ObjectMeta): ObjectMeta => ({
  ...withAge(metadata),
  ...members(only(labels, [ownerLabel], longestOwn), only(annotations, requestOf, longestOwn)),
  ...(ownerReferences && {ownerReferences: ownerReferences.slice(0, mostOwners)}),
});
