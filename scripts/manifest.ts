import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { ManifestError, manifestFor } from './slack-manifest.ts';

/**
 * Prints manifest.yml for one installation: `npm run manifest -- https://deckhand.example.com`; for the Slack CLI as its
 * hook `get-manifest`, between the boundaries that it asks for.
 */
const template = readFileSync(join(import.meta.dirname, '..', 'manifest.yml'), 'utf8');

try {
  const boundary = process.argv.find((word) => word.startsWith('--boundary='))?.split('=')[1] ?? '';
  process.stdout.write(`${boundary}${manifestFor(process.argv.slice(2), template)}${boundary}`);
} catch (error) {
  if (!(error instanceof ManifestError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 64;
}
