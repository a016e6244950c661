/** As whom the plugin writes: `metadata.managedFields` tells what came by it. */
export const fieldManager = 'kubectl-doorplate';
