import { copyFile, mkdir, rm } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { basename, join, resolve } from 'node:path';
import process from 'node:process';
import { type Plugin, rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const FONTS = '@expo-google-fonts/atkinson-hyperlegible';

/** What is run by itself: the process, the one that draws pictures, and the programs for operators. */
const ENTRIES = {
  main: 'src/main.ts',
  'picture-worker': 'src/pictures/picture-worker.ts',
  'rotate-keys': 'src/transfer/rotate-keys.ts',
  backup: 'src/transfer/backup.ts',
  restore: 'src/transfer/restore.ts',
  migrate: 'src/transfer/migrate.ts',
};

/** What libraries look for but Deckhand never uses. */
const NOT_BUNDLED = [
  'better-sqlite3',
  'bun:sqlite',
  'bufferutil',
  'utf-8-validate',
  'pg-native',
  'pg-cloudflare',
  'cloudflare:sockets',
];

/** Of undici, what both clients use at once; all else, `fetch` and caches among it, is loaded where Socket Mode asks for it. */
const UNDICI = `{
  get Agent() { return require(${JSON.stringify(require.resolve('undici/lib/dispatcher/agent.js'))}); },
  ${['fetch', 'WebSocket', 'ErrorEvent', 'MessageEvent', 'CloseEvent', 'buildConnector', 'ping']
    .map(
      (name) =>
        `get ${name}() { return require(${JSON.stringify(require.resolve('undici/index.js'))}).${name}; },`,
    )
    .join('\n  ')}
}`;

/** What libraries load at once and Deckhand never uses, and what stands for it: Bolt's receivers, undici's HTTP/2. */
const STAND_INS: Readonly<Record<string, string>> = {
  express: '{}',
  'raw-body': '{}',
  '@slack/oauth': '{}',
  'node:http2': '{ constants: {} }',
  undici: UNDICI,
};

/** Modules of Node that a library loads at once, for what Deckhand never uses of it. */
const UNUSED: Readonly<Record<string, RegExp>> = {
  child_process: /node_modules\/node-cron\//,
  https: /node_modules\/(@slack\/bolt|prom-client)\//,
  worker_threads: /node_modules\/(pino|thread-stream)\//,
  zlib: /node_modules\/(@slack\/web-api|prom-client)\//,
};

/**
 * An import of a module of Node reads all that it exports, which loads what stands behind: `fetch` with `node:http`, the
 * standard input with `node:process`. Taken as an object, it costs what is used.
 */
const modulesOfNode: Plugin = {
  name: 'modules-of-node',
  resolveId(source, importer = '', { kind }) {
    if (UNUSED[source.replace('node:', '')]?.test(importer)) return '\0unused';
    // The bundler itself needs `node:module`, before anything else.
    const isTaken = kind === 'import-statement' && isBuiltin(source) && source !== 'node:module';
    return isTaken || source in STAND_INS ? `\0${source}` : null;
  },
  load(id) {
    if (id === '\0unused') return 'module.exports = {};';
    const source = id.slice(1);
    if (!id.startsWith('\0') || !(isBuiltin(source) || source in STAND_INS)) return null;
    return `module.exports = ${STAND_INS[source] ?? `process.getBuiltinModule(${JSON.stringify(source)})`};`;
  },
};

/** Bundles Deckhand into `dist/` for production: `npm run build`. */
const folder = resolve(root, process.argv[2] ?? 'dist');
await rm(folder, { recursive: true, force: true });
const bundle = await rolldown({
  cwd: root,
  input: ENTRIES,
  platform: 'node',
  external: NOT_BUNDLED,
  plugins: [modulesOfNode],
  onLog: (level, log, next) => (log.code === 'EVAL' ? undefined : next(level, log)),
});
const { output } = await bundle.write({
  dir: folder,
  format: 'esm',
  sourcemap: true,
  // Text with a single wider letter takes two bytes for each of its letters, as long as the process runs.
  charset: 'ascii',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  // Names stay, so that a stack reads the same without the source map.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
});
await bundle.close();
await copyFonts();
const bytes = output.reduce((sum, part) => sum + (part.type === 'chunk' ? part.code.length : 0), 0);
process.stdout.write(`${output.length} files in ${folder}, ${(bytes / 1e6).toFixed(1)} MB of code\n`);

async function copyFonts(): Promise<void> {
  const target = join(folder, 'fonts');
  await mkdir(target);
  for (const file of [
    '400Regular/AtkinsonHyperlegible_400Regular.ttf',
    '700Bold/AtkinsonHyperlegible_700Bold.ttf',
  ])
    await copyFile(require.resolve(`${FONTS}/${file}`), join(target, basename(file)));
}
