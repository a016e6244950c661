import {fastify} from 'fastify';
import {serializerCompiler, validatorCompiler} from 'fastify-type-provider-zod';
import {addConditionalReads} from '../http/gate/conditional.ts';
import type {Description} from '../http/openapi/docs-page.ts';
import {Idempotency} from '../http/idempotency.ts';
import {addDocs} from '../http/openapi/openapi.ts';
import {addAudit} from '../http/routes/audit.ts';
import {addEvents} from '../http/routes/events.ts';
import {addKeys} from '../http/routes/keys.ts';
import {addReads} from '../http/routes/reads.ts';
import {addUsage} from '../http/routes/usage.ts';
import {addWrites} from '../http/routes/writes.ts';
import {addSessions} from '../http/session/routes.ts';
import {addCustomerTexts} from '../http/texts/customer-texts.ts';

/** Builds the answer of `GET /openapi.json` without a running server: paths are described when they are added, and none is called. */
export async function describeApi(): Promise<Description> {
  const server = fastify().setValidatorCompiler(validatorCompiler).setSerializerCompiler(serializerCompiler);
  addConditionalReads(server, {} as never);
  addCustomerTexts(server);
  await addDocs(server, {name: '', origin: undefined});
  new Idempotency({} as never).addTo(server);
  for (const add of [addReads, addWrites, addKeys, addEvents, addUsage, addAudit, addSessions])
    add(server, {} as never);
  await server.ready();
  const description = server.swagger() as unknown as Description;
  await server.close();
  return description;
}
