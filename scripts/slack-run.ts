import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { DEMO_USERS } from '../sandbox/service/seed/demo-facts.ts';
import { startSimulatedService } from '../sandbox/service/server.ts';

/**
 * `slack run` calls this with both tokens of the developer's workspace. What else Deckhand needs comes from `.env`; where
 * that says nothing, a new encryption key is written there, and the simulated service is used.
 */
const root = join(import.meta.dirname, '..');
const envFile = join(root, '.env');
if (existsSync(envFile)) process.loadEnvFile(envFile);
const { ENCRYPTION_KEYS = addEncryptionKey(), SERVICE_BASE_URL = await startService() } = process.env;
const deckhand = spawn(process.execPath, [join(root, 'bin', 'deckhand.mjs')], {
  cwd: root,
  stdio: 'inherit',
  env: { PORT: '0', ...process.env, ENCRYPTION_KEYS, SERVICE_BASE_URL },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => deckhand.kill(signal));
deckhand.on('exit', (code) => process.exit(code ?? 1));

/** Kept, because credentials that were stored with it open with no other. */
function addEncryptionKey(): string {
  const key = `k1:${randomBytes(32).toString('base64')}`;
  appendFileSync(envFile, `ENCRYPTION_KEYS=${key}\n`, { mode: 0o600 });
  process.stdout.write('A new encryption key stands in .env.\n');
  return key;
}

/** @returns the address of its accounts */
async function startService(): Promise<string> {
  const service = await startSimulatedService({ seed: 'demo' });
  const { account, email, apiKey } = DEMO_USERS.admin;
  process.stdout.write(
    `SERVICE_BASE_URL is not set, so this is a simulated service. Connect the account ${account} as ${email} with the key ${apiKey}.\n`,
  );
  return service.baseUrl;
}
