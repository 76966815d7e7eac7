import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ManifestError, manifestFor } from './slack-manifest.ts';

/** Prints manifest.yml for one installation: `npm run manifest -- https://deckhand.example.com`. */
const template = readFileSync(join(import.meta.dirname, '..', 'manifest.yml'), 'utf8');

try {
  process.stdout.write(manifestFor(process.argv.slice(2), template));
} catch (error) {
  if (!(error instanceof ManifestError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 64;
}
