/** The one Ingress for plain HTTP of all hostnames, which the chart makes, and those of others that may answer in its place. */
import type {Ingress} from '../../api/foreign.ts';
import {entryPointsAnnotation} from './ingress.ts';

/** The older way to name a class. */
const classAnnotation = 'kubernetes.io/ingress.class';

/** Whether Traefik answers plain HTTP of every hostname by it, where no route with that host goes before it. */
export function answersEveryHost({metadata: {annotations = {}}, spec}: Ingress, ingressClassName: string): boolean {
  const ofClass = (spec.ingressClassName ?? annotations[classAnnotation]) === ingressClassName;
  // Without the annotation it is for every entry point.
  const points = annotations[entryPointsAnnotation]?.split(',').map((name) => name.trim());
  return ofClass && (points?.includes('web') ?? true) && (spec.rules ?? []).some((rule) => !rule.host);
}

/** Whether it is for plain HTTP of one hostname alone, as each has one where none is shared. */
export const isForPlainHttp = ({metadata: {annotations}}: Pick<Ingress, 'metadata'>): boolean =>
  annotations?.[entryPointsAnnotation] === 'web';
