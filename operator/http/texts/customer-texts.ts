/** Adds the texts for customers to answers about hostnames, projects and keys, in the language that the client prefers. */
import type {FastifyInstance} from 'fastify';
import {z} from 'zod';
import {customerTexts} from '../../domain/reasons/customer.ts';
import type {DescribedState} from '../../domain/reasons/parameters.ts';
import type {Language} from '../../domain/reasons/texts/language.ts';
import {languageOf} from './language.ts';
import * as schemas from '../schemas.ts';
import type {HostView} from '../views.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers have texts for customers. */
    hasTexts?: boolean;
  }
}

/** Shapes of answers with texts. */
const shapes: ReadonlySet<unknown> = new Set([
  schemas.host,
  schemas.domains,
  schemas.project,
  schemas.projectPage,
  schemas.key,
  schemas.keyPage,
  schemas.keyWithToken,
]);

/** A hostname, project or key. A project is named in its texts by its default hostname. */
type TextedObject = DescribedState & {name?: string; host?: string | null};

function describedWith<T extends TextedObject>(subject: T, language: Language, primary?: string | null): T {
  const {details: _, ...shown} = subject;
  const hostname = subject.hostname ?? subject.host ?? subject.name;
  const {tone: __, ...customer} = customerTexts({...subject, hostname}, {language, primary});
  return {...shown, customer} as unknown as T;
}

/** The answer with the texts of each hostname, project or key in it. */
export function withTexts<T extends object>(answer: T, language: Language): T {
  const {items, hosts, domains} = answer as {
    items?: TextedObject[];
    hosts?: HostView[];
    domains?: {primary: string | null};
  };
  if (items) return {...answer, items: items.map((item) => describedWith(item, language))};
  if (hosts) return {...answer, hosts: hosts.map((host) => describedWith(host, language, domains?.primary))};
  return describedWith(answer as T & TextedObject, language);
}

const headersOf = ({code}: Language) => ({'content-language': code, vary: 'Accept-Language'});

/** The language of an answer with texts, and the headers that report it. */
export function languageFor({headers}: {headers: {'accept-language'?: string}}): {
  language: Language;
  headers: Record<string, string>;
} {
  const language = languageOf(headers['accept-language']);
  return {language, headers: headersOf(language)};
}

/** Adds the texts to the answers of paths that are added later. */
export function addCustomerTexts(server: FastifyInstance): void {
  server.addHook('onRoute', (route) => {
    const {headers = z.object({}), response = {}} = (route.schema ?? {}) as {headers?: z.ZodObject; response?: object};
    if (!Object.values(response).some((shape) => shapes.has(shape)) && !route.config?.hasTexts) return;
    const acceptLanguage = z
      .string()
      .optional()
      .describe('The languages of the texts in `customer`, by preference: `en` or `de`.');
    const {answerHeaders = []} = route.schema ?? {};
    route.config = {...route.config, hasTexts: true};
    route.schema = {
      ...route.schema,
      answerHeaders: [...answerHeaders, 'Content-Language'],
      headers: z.looseObject({...headers.shape, 'accept-language': acceptLanguage}),
    };
  });
  server.addHook('preSerialization', async (request, reply, answer) => {
    if (!request.routeOptions.config.hasTexts || reply.statusCode >= 300) return answer;
    const {language, headers} = languageFor(request);
    void reply.headers(headers);
    return withTexts(answer as object, language);
  });
}
