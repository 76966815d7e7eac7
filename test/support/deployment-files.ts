import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { ConfigError, parseConfig } from '../../src/config.ts';

const root = join(import.meta.dirname, '../..');

/** What browsers and Slack must reach, and what only the operator's own network may. */
export const PUBLIC_PATHS = [
  '/',
  '/privacy',
  '/slack/events',
  '/slack/install',
  '/slack/oauth_redirect',
  '/service/oauth/start',
  '/service/oauth/callback',
  '/hooks/token',
  '/mcp',
];
export const INTERNAL_PATHS = ['/metrics', '/healthz', '/readyz'];

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function readYaml(path: string): unknown {
  return parse(readText(path), { strict: true, uniqueKeys: true });
}

export function readVariables(path: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parseEnv(readText(path))).map(([name, value]) => [name, value ?? '']),
  );
}

/** The names that Deckhand and Node read; anything else in an example would be ignored without a word. */
export function unknownVariables(names: Iterable<string>): string[] {
  const schema = readText('src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm);
  const known = new Set([...[...schema].map(([, name]) => name), 'NODE_ENV', 'NODE_COMPILE_CACHE']);
  return [...names].filter((name) => !known.has(name) && !name.startsWith('OTEL_'));
}

/** What Deckhand would refuse at its start, once an operator has added secrets and addresses. */
export function startFaults(env: Record<string, string>): readonly string[] {
  const secrets = {
    SLACK_SIGNING_SECRET: 'e'.repeat(32),
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    SERVICE_BASE_URL: 'https://{account}.service.test',
    ...(env.SLACK_CLIENT_ID === undefined
      ? { SLACK_BOT_TOKEN: 'xoxb-1' }
      : { SLACK_CLIENT_ID: '1.2', SLACK_CLIENT_SECRET: 'secret', PUBLIC_URL: 'https://deckhand.test' }),
  };
  try {
    parseConfig({
      ...secrets,
      ...Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')),
    });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
