/** GitOps tools keep a copy of an object, and are known by their marks and field managers. These tools write the object again. */
import {formerOwners, ownersOf, ownsMark} from '../../http/store/managers.ts';
import {type Mark, marks, toolOf} from '../../http/store/marks.ts';
import type {KubeObject} from '../../kube/objects.ts';

/**
 * Why handing the object back has no lasting effect, and what to do first; undefined if no tool writes it. `isTakenOut`: the object was
 * taken out of its tool, so that its field owners do not count. Marks of the tool always count, because they can be removed.
 */
export function writtenAgainBy(object: KubeObject, {isTakenOut = false} = {}): string | undefined {
  const {kind, metadata} = object;
  const found = marks.filter((mark) => isMarked(object, mark));
  const managers = formerOwners(ownersOf(object)).filter((manager) => toolOf(manager) !== undefined);
  const [tool] = [
    ...found.map((mark) => mark.tool),
    ...(isTakenOut ? [] : managers.map((manager) => toolOf(manager)!)),
  ];
  if (tool === undefined) return undefined;
  const signs = [...found.map(({name}) => name), ...managers.map((manager) => `field manager ${manager}`)].join(', ');
  const [name, at] = [`${kind.toLowerCase()}/${metadata.name}`, `-n ${metadata.namespace}`];
  const unmark = found.map(
    (mark) => `kubectl ${mark.in === 'labels' ? 'label' : 'annotate'} ${name} ${at} ${mark.name}-`,
  );
  const release = `kubectl doorplate release ${name} ${at}${managers.length > 0 ? ' --from-pipeline' : ''}`;
  return (
    `${tool} will write it again (${signs}). Remove it from ${tool} first, without deleting the object. ` +
    `Then run: ${[...unmark, release].join(' && ')}`
  );
}

const isMarked = (object: KubeObject, mark: Mark): boolean =>
  object.metadata[mark.in]?.[mark.name] !== undefined && ownersOf(object).some((entry) => ownsMark(entry, mark));
