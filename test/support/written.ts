/** What the API server's audit log of a whole run says that Doorplate has written. */
import {createReadStream} from 'node:fs';
import {createInterface} from 'node:readline';
import {env} from '../../cluster/cluster.ts';

interface Line {
  user?: {username?: string};
  objectRef?: {apiGroup?: string; resource?: string; subresource?: string; namespace?: string; name?: string};
  requestObject?: unknown;
  responseStatus?: {code?: number};
}

/** A status as it was sent and accepted: a JSON patch (kube/writes/status.ts). */
export interface Written {
  resource: string;
  /** `RESOURCE NAMESPACE/NAME`. */
  where: string;
  request: unknown;
}

/** Every status that the operator or the API has written, in order. */
export async function* statusesWritten(): AsyncGenerator<Written> {
  for await (const line of createInterface({input: createReadStream(env().auditLog), crlfDelay: Infinity})) {
    if (!line.includes('"doorplate.dev"')) continue;
    let event: Line;
    try {
      event = JSON.parse(line) as Line;
    } catch {
      continue;
    } // the last line may be half written
    const {objectRef: o, user, responseStatus, requestObject} = event;
    if (
      o?.apiGroup !== 'doorplate.dev' ||
      o.subresource !== 'status' ||
      responseStatus?.code !== 200 ||
      !/-(operator|api)$/.test(user?.username ?? '')
    )
      continue;
    const {resource = '', namespace = '', name} = o;
    yield {resource, where: `${resource} ${namespace}/${name}`, request: requestObject};
  }
}
