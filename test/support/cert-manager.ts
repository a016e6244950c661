import {eventually, kubectl} from '../../cluster/cluster.ts';

const its = ['-n', 'cert-manager', '-l', 'app.kubernetes.io/component=controller'];

/** Scales cert-manager to none. Resolves when its process is gone: until then it corrects what a test writes in its place. */
export async function stopCertManager(): Promise<void> {
  await kubectl(['scale', 'deployment', '-n', 'cert-manager', 'cert-manager', '--replicas=0']);
  await eventually(
    'cert-manager is away',
    async () => (await kubectl(['get', 'pods', ...its, '-o', 'name'])).trim() === '',
  );
}
