import {fastify} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import {addConditionalReads} from './conditional.ts';
import type {Description} from './docs-page.ts';
import {Idempotency} from './idempotency.ts';
import {addDocs} from './openapi.ts';
import {addAudit} from './routes/audit.ts';
import {addEvents} from './routes/events.ts';
import {addKeys} from './routes/keys.ts';
import {addReads} from './routes/reads.ts';
import {addUsage} from './routes/usage.ts';
import {addWrites} from './routes/writes.ts';
import {addSessions} from './session/routes.ts';

/** Builds the answer of `GET /openapi.json` without a running server: paths are described when they are added, and none is called. */
export async function describeApi(): Promise<Description> {
  const server = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  addConditionalReads(server, {} as never);
  await addDocs(server, {name: '', origin: undefined});
  new Idempotency({} as never).addTo(server);
  for (const add of [addReads, addWrites, addKeys, addEvents, addUsage, addAudit, addSessions])
    add(server, {} as never);
  await server.ready();
  const description = server.swagger() as unknown as Description;
  await server.close();
  return description;
}
