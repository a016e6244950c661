/** The environment of a test file: the worker's own realm (runtime.ts). */
import {ModernFakeTimers} from '@jest/fake-timers';
import type {JestEnvironmentConfig} from '@jest/environment';
import {ModuleMocker} from 'jest-mock';

export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #variables = {...process.env};

  constructor({projectConfig}: JestEnvironmentConfig) {
    this.fakeTimersModern = new ModernFakeTimers({config: projectConfig, global: globalThis});
  }

  async setup(): Promise<void> {}

  /** Leaves nothing to the next test file of this process. */
  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
  }

  getVmContext(): null {
    return null;
  }
}
