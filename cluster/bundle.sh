#!/usr/bin/env bash
# bundle.sh OUTDIR [ENTRY]: bundles an entry as OUTDIR/main.js, and beside it what it starts as a thread of its own or imports only
# when needed (a kubeconfig's client), and the page. Dependencies that are CommonJS find `require` through the banner.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$1 entry=${2:-operator/main.ts}
node_modules/.bin/esbuild "main=$entry" ledger-worker=operator/limits/ledger/ledger-worker.ts \
  authorizer-worker=operator/roles/authorizer-worker.ts --outdir="$out" \
  --bundle --splitting --platform=node --format=esm --target=node24 --sourcemap=linked --sources-content=true \
  --log-level=warning --legal-comments=none \
  --banner:js="import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"
echo '{"type":"module"}' >"$out/package.json"
node_modules/.bin/vite build dashboard --logLevel warn --outDir "$(realpath "$out")/page"
