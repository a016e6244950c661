import {afterAll, beforeAll, beforeEach, describe, expect, test} from '@jest/globals';
import {Registry} from 'prom-client';
import type {Client} from '../../operator/kube/client/client.ts';
import {isConflict} from '../../operator/kube/errors.ts';
import {EventRecorder, events} from '../../operator/kube/writes/events.ts';
import {ensureFinalizer, removeFinalizer} from '../../operator/kube/writes/finalizer.ts';
import {type KitMetrics, kitMetrics} from '../../operator/kube/metrics.ts';
import {keyOf, type Resource} from '../../operator/kube/objects.ts';
import {writeStatus} from '../../operator/kube/writes/status.ts';
import {eventually, makeNamespace, makeWidgets, type Widget} from '../support/kube-api.ts';
import type {ApiServer} from '../support/kube-server.ts';
import {Platform} from '../support/platform.ts';

const finalizer = 'kit.test/clean-up';

let server: ApiServer;
let client: Client;
let widgets: Resource<Widget>;
let namespace: string;
let widget: Widget;
let serial = 0;

/** How many Events were not written. */
const dropped = async (metrics: KitMetrics) => (await metrics.eventsDropped.get()).values[0]?.value;
/** A recorder, and what counts for it. */
const makeRecorder = (capacity?: number) => {
  const metrics = kitMetrics(new Registry());
  const recorder = new EventRecorder(client, {
    controller: 'kit.test/controller',
    instance: 'pod-1',
    metrics,
    ...(capacity !== undefined && {capacity}),
  });
  return {recorder, metrics};
};

beforeAll(async () => {
  server = await Platform.server();
  client = server.client();
  [widgets, namespace] = await Promise.all([makeWidgets(client), makeNamespace(client)]);
});
afterAll(async () => {
  await client.close();
  await server.stop();
});
beforeEach(async () => {
  const {group} = widgets;
  widget = await client.create(widgets, {
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: {name: `w-${serial++}`, namespace},
    spec: {size: 1},
  });
});

const read = async (): Promise<Widget> => (await client.get(widgets, keyOf(widget)))!;
const stale = expect.objectContaining({status: 409, reason: 'Conflict'});

describe('status', () => {
  test('is written whole: members that are left out are removed', async () => {
    const first = await writeStatus(client, widgets, widget, {seen: 1, words: ['a']});
    expect(first!.status).toEqual({seen: 1, words: ['a']});
    const second = await writeStatus(client, widgets, first!, {seen: 2});
    expect(second!.status).toEqual({seen: 2});
    expect((await read()).spec).toEqual({size: 1});
  });

  test('costs no request when it is already as wanted', async () => {
    const written = await writeStatus(client, widgets, widget, {words: ['a'], seen: 1});
    expect(await writeStatus(client, widgets, written!, {seen: 1, words: ['a'], more: undefined})).toBeUndefined();
    expect((await read()).metadata.resourceVersion).toBe(written!.metadata.resourceVersion);
  });

  test('of a stale read is refused, and the newer one stands', async () => {
    await writeStatus(client, widgets, widget, {seen: 1});
    await expect(writeStatus(client, widgets, widget, {seen: 2})).rejects.toEqual(stale);
    expect((await read()).status).toEqual({seen: 1});
  });

  test('decided on an older spec is refused', async () => {
    await client.patch(widgets, keyOf(widget), {spec: {size: 2}}, {type: 'merge'});
    const error: unknown = await writeStatus(client, widgets, widget, {seen: 1}).catch((e: unknown) => e);
    expect(isConflict(error)).toBe(true);
    expect((await read()).status).toBeUndefined();
  });
});

describe('a finalizer', () => {
  test('is added once, beside those of others, and taken off alone', async () => {
    const other = await client.patch(
      widgets,
      keyOf(widget),
      {metadata: {finalizers: ['other.test/x']}},
      {type: 'merge'},
    );
    const added = await ensureFinalizer(client, widgets, other, finalizer);
    expect(added!.metadata.finalizers).toEqual(['other.test/x', finalizer]);
    expect(await ensureFinalizer(client, widgets, added!, finalizer)).toBeUndefined();
    const removed = await removeFinalizer(client, widgets, added!, finalizer);
    expect(removed!.metadata.finalizers).toEqual(['other.test/x']);
    expect(await removeFinalizer(client, widgets, removed!, finalizer)).toBeUndefined();
    await client.patch(widgets, keyOf(widget), {metadata: {finalizers: null}}, {type: 'merge'});
  });

  test('that was decided on a stale read removes nobody else’s', async () => {
    await client.patch(widgets, keyOf(widget), {metadata: {finalizers: ['other.test/x']}}, {type: 'merge'});
    await expect(ensureFinalizer(client, widgets, widget, finalizer)).rejects.toEqual(stale);
    expect((await read()).metadata.finalizers).toEqual(['other.test/x']);
    await client.patch(widgets, keyOf(widget), {metadata: {finalizers: null}}, {type: 'merge'});
  });

  test('holds the object until it is taken off, and is not added to one that is being deleted', async () => {
    const held = await ensureFinalizer(client, widgets, widget, finalizer);
    await client.delete(widgets, keyOf(widget));
    const going = await read();
    expect(going.metadata.deletionTimestamp).toBeDefined();
    expect(await ensureFinalizer(client, widgets, going, 'late.test/x')).toBeUndefined();
    await expect(removeFinalizer(client, widgets, held!, finalizer)).rejects.toEqual(stale);
    await removeFinalizer(client, widgets, going, finalizer);
    expect(await client.get(widgets, keyOf(widget))).toBeUndefined();
    expect(await removeFinalizer(client, widgets, going, finalizer)).toBeUndefined();
  });
});

describe('an Event', () => {
  test('is accepted by the API server, its note cut to a kilobyte', async () => {
    const {recorder, metrics} = makeRecorder();
    for (let i = 0; i < 3; i++)
      recorder.record({
        regarding: widget,
        type: 'Normal',
        reason: 'Tried',
        action: 'Try',
        note: `${i} ${'€'.repeat(1000)}`,
      });
    await recorder.flush(60_000);
    expect(await dropped(metrics)).toBe(0);
    const {items} = await client.list(events, {namespace, fieldSelector: `regarding.name=${widget.metadata.name}`});
    expect(items.map(({note = ''}) => note.slice(0, 3)).toSorted()).toEqual(['0 €', '1 €', '2 €']);
    expect(items[0]).toMatchObject({
      reason: 'Tried',
      reportingController: 'kit.test/controller',
      regarding: {name: widget.metadata.name},
    });
    expect(items[0]!.eventTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test('that the API server refuses is dropped, and harms nobody; of a namespace that is gone it is nobody’s', async () => {
    const {recorder, metrics} = makeRecorder();
    for (const change of [{name: 'Not_a_name'}, {namespace: 'no-such-namespace'}])
      recorder.record({
        regarding: {...widget, metadata: {...widget.metadata, ...change}},
        type: 'Normal',
        reason: 'Tried',
        action: 'Try',
        note: 'x',
      });
    recorder.record({regarding: widget, type: 'Warning', reason: 'Failed', action: 'Try', note: 'after'});
    await recorder.flush(60_000);
    expect(await dropped(metrics)).toBe(1);
    await eventually(async () => (await client.list(events, {namespace})).items.some(({note}) => note === 'after'));
  });

  test('beyond the buffer is dropped at once', async () => {
    const {recorder, metrics} = makeRecorder(2);
    for (let i = 0; i < 5; i++)
      recorder.record({regarding: widget, type: 'Normal', reason: 'Tried', action: 'Try', note: `${i}`});
    expect(await dropped(metrics)).toBe(2);
    await recorder.flush(60_000);
  });
});
