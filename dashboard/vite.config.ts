/** Builds the page into dist/page, from where the API serves it (operator/http/page). */
import {defineConfig} from 'vite';

// Whoever builds it, a test among them: the libraries bring more for development.
process.env.NODE_ENV = 'production';

export default defineConfig({
  root: import.meta.dirname,
  build: {
    rolldownOptions: {checks: {moduleLevelDirective: false}},
    outDir: '../dist/page',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: {polyfill: false},
    // Nothing inline: the page's security policy forbids it.
    assetsInlineLimit: 0,
    // The bundled packages, for cluster/licenses.ts.
    license: {fileName: 'licenses.json'},
  },
});
