import type {FastifyInstance} from 'fastify';
import type {ZodTypeProvider} from 'fastify-type-provider-zod';

/** A server whose handlers have the types of their schemas. */
export const typed = (server: FastifyInstance) => server.withTypeProvider<ZodTypeProvider>();
export type App = ReturnType<typeof typed>;
