import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');

/** What libraries look for but Deckhand never uses. */
const NEVER_USED = [
  'better-sqlite3',
  'bun:sqlite',
  'bufferutil',
  'utf-8-validate',
  'pg-native',
  'pg-cloudflare',
  'cloudflare:sockets',
];

/** As OpenTelemetry's SDK would require it: its CommonJS form. */
const GRPC_EXPORTER = '@opentelemetry/otlp-grpc-exporter-base';
const grpcExporterPath = createRequire(import.meta.resolve('@opentelemetry/sdk-node')).resolve(GRPC_EXPORTER);

/** Bundles Deckhand into `dist/` for production: `npm run build`. */
const folder = resolve(root, process.argv[2] ?? 'dist');
await rm(folder, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  input: { main: 'src/main.ts', 'description-worker': 'src/service/description-worker.ts' },
  platform: 'node',
  external: NEVER_USED,
  // Its module form finds gRPC only at run time, in a node_modules that the tarball does not have.
  resolve: { alias: { [GRPC_EXPORTER]: grpcExporterPath } },
  onLog: (level, log, next) => (log.code === 'EVAL' ? undefined : next(level, log)),
});
const { output } = await bundle.write({
  dir: folder,
  format: 'esm',
  // Neither shortened nor mapped, so that a stack's lines can be read where they stand.
  minify: false,
  // Text with a single wider letter takes two bytes for each of its letters, as long as the process runs.
  charset: 'ascii',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
await bundle.close();
const bytes = output.reduce((sum, part) => sum + (part.type === 'chunk' ? part.code.length : 0), 0);
process.stdout.write(`${output.length} files in ${folder}, ${(bytes / 1e6).toFixed(1)} MB of code\n`);
