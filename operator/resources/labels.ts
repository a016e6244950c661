/** Labels and annotations by which Doorplate finds the objects that it has written. */

/** On every object that Doorplate writes: whose it is. The value is the owner's UID; on a Certificate that rests, the last owner's. */
export const ownerLabel = 'doorplate.dev/owner-uid';
/** Whose it is, for people: kind and key of the owner. */
export const forAnnotation = 'doorplate.dev/for';
/** Which intent an object was last given (kube/writes/apply.ts). */
export const intentAnnotation = 'doorplate.dev/intent';
export const managedBy = {'app.kubernetes.io/managed-by': 'doorplate'} as const;
/** Selects what Doorplate wrote, for caches. cert-manager copies a Certificate's labels to its CertificateRequests. */
export const ownedSelector = `app.kubernetes.io/managed-by=doorplate,${ownerLabel}`;
