import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { setFlagsFromString } from 'node:v8';

// Before anything else is loaded: code that was compiled once is not compiled again, which halves the start and saves a
// fifth of the memory. It has no effect where the folder cannot be written. `npm start` names the same folder, so that this
// file is in the cache too.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'deckhand'));

// Old objects are collected when they have doubled, not at four times, which spares a quarter of the memory in a flood.
setFlagsFromString('--heap-growing-percent=100');

try {
  process.loadEnvFile('.env');
} catch (error) {
  const code = codeOf(error);
  if (code !== 'ENOENT')
    end(`.env could not be read (${code}). Make it readable for this user, or remove it.`);
}

const { commandLine } = await import('./command-line.ts').catch((error: unknown) => {
  if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  return end('The packages that Deckhand needs are not installed. Install them with: npm ci --omit=dev');
});
await commandLine(process.argv.slice(2), process.env);

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Ends as for a faulty configuration (`CONFIG_EXIT_CODE`, which cannot be imported before there are packages). */
function end(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(78);
}
