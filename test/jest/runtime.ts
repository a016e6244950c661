/**
 * jest's runtime, with Node.js itself as the module loader. jest's own loader evaluates every module, node_modules among them, again for
 * each test file, in a `vm` context whose globals are slow to look up. Here a test file runs in the worker's own realm:
 *
 * - Modules of the checkout are evaluated again for each test file: their URL gets `?file=N.ts`, which still ends like the file's name.
 *   Modules of node_modules are shared.
 * - TypeScript is read by Node.js' type stripping, without a transform.
 * - `jest.mock` and `jest.resetModules` do nothing. Pass effects in instead.
 */
import {createRequire, registerHooks} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(import.meta.url);
const {default: JestRuntime} = require('jest-runtime') as typeof import('jest-runtime');
const globals = new URL('./globals.ts', import.meta.url).href;

/** Which test file of this process runs, counted from 1. The first one that is loaded registers the hook. */
let file = 0;

/** Gives each test file its own instances of the checkout's modules, and its own `@jest/globals`. */
function registerLoader(checkout: string): void {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = specifier === '@jest/globals' ? {url: globals, shortCircuit: true} : next(specifier, context);
      const ours = resolved.url.startsWith(checkout) && !resolved.url.includes('/node_modules/');
      return ours ? {...resolved, url: `${resolved.url}?file=${file}.ts`} : resolved;
    },
  });
}

export default class NativeRuntime extends JestRuntime {
  readonly #checkout: string;

  constructor(...args: ConstructorParameters<typeof JestRuntime>) {
    super(...args);
    this.#checkout = pathToFileURL(args[0].rootDir).href;
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** Imports a test file. Rejects with the error that the file throws while it loads. */
  override async unstable_importModule(path: string): Promise<never> {
    if (file++ === 0) registerLoader(this.#checkout);
    globalThis.doorplateBeforeTestFile?.();
    globalThis.doorplateJestGlobals = this.requireModuleOrMock(path, '@jest/globals');
    return import(pathToFileURL(path).href) as Promise<never>;
  }

  /** jest-circus keeps the state of a test file in its module, so that one is evaluated again. */
  override requireInternalModule<T = unknown>(from: string, to?: string): T {
    delete require.cache[to ?? from];
    return require(to ?? from) as T;
  }

  override requireModule<T = unknown>(from: string, to?: string): T {
    return createRequire(from)(to ?? from) as T;
  }
}

/** jest would replace `process.getBuiltinModule`, but here `process` belongs to the worker. The types declare the method private. */
Object.defineProperty(NativeRuntime.prototype, 'installGetBuiltinModule', {value: () => {}});
