/** The platform's settings as far as tenants may know them: the chart publishes them in a ConfigMap. */
import {type Settings, parseSettings} from '../config.ts';
import type {Client} from '../kube/client/client.ts';
import {defineResource, type KubeObject} from '../kube/objects.ts';
import {CommandError, isForbidden} from './errors.ts';

const configMaps = defineResource<KubeObject & {data?: Record<string, string>}>({
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
});

/** The chart's default location of the settings. */
export const defaultPlace = 'doorplate-system/doorplate-public';

/** The public ConfigMap with the settings; undefined if it is missing or the user lacks the right to read it. */
const publicConfigMap = (client: Client, place: string) =>
  client.get(configMaps, place).catch((error: unknown) => {
    if (isForbidden(error)) return undefined;
    throw error;
  });

/** The version of the release, by the label that the chart sets. */
export async function publishedVersion(client: Client, place: string): Promise<string | undefined> {
  return (await publicConfigMap(client, place))?.metadata.labels?.['app.kubernetes.io/version'];
}

/** Undefined where there are none, or none that may be read. Throws CommandError where they are of another version. */
export async function publishedSettings(client: Client, place = defaultPlace): Promise<Settings | undefined> {
  const found = await publicConfigMap(client, place);
  const text = found?.data?.['config.yaml'];
  if (text === undefined) return undefined;
  try {
    return parseSettings(text, `ConfigMap ${place}`);
  } catch (error) {
    throw new CommandError(`${(error as Error).message}. Check that this plugin has the same version as Doorplate`);
  }
}

/** The settings, for commands that need them. Throws CommandError if they are missing. */
export async function requiredSettings(client: Client, place: string): Promise<Settings> {
  const settings = await publishedSettings(client, place);
  if (settings) return settings;
  throw new CommandError(
    `the platform's settings could not be read: the ConfigMap ${place} is missing, or you may not read it. ` +
      "Name your platform's ConfigMap (--settings NAMESPACE/NAME)",
  );
}
