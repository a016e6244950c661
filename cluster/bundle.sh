#!/usr/bin/env bash
# bundle.sh OUTDIR [ENTRY]: bundles an entry as OUTDIR/main.js. Beside it are the entries of threads, modules that are imported only
# when needed, the page, and the licences of all that is bundled. Dependencies that are CommonJS find `require` through the banner.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
out=$1 entry=${2:-operator/main.ts}
# Source maps hold paths relative to the output. A folder at one depth of the checkout gives the same bytes on each machine.
mkdir -p dist "$(dirname "$out")"
new=$(mktemp -d dist/bundle.XXXXXX)
trap 'rm -rf "$new"' EXIT
esbuild "main=$entry" ledger-worker=operator/limits/ledger/ledger-worker.ts \
  authorizer-worker=operator/roles/authorizer-worker.ts --outdir="$new/app" --metafile="$new/meta.json" \
  --bundle --splitting --platform=node --format=esm --target=node24 --sourcemap=linked --sources-content=true \
  --log-level=warning --legal-comments=none \
  --banner:js="import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"
echo '{"type":"module"}' >"$new/app/package.json"
vite build dashboard --logLevel warn --outDir "$PWD/$new/app/page"
mv "$new/app/page/licenses.json" "$new/page.json"
node cluster/licenses.ts "$new/meta.json" "$new/page.json" >"$new/app/licenses.txt"
cp LICENSE "$new/app/LICENSE"
rm -rf "$out"
mv "$new/app" "$out"
