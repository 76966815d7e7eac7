import { z } from 'zod';
import type { DeckhandApp } from '../app.ts';
import { examine } from '../commands/admin/show-doctor.ts';
import { parseConfig, readVersion } from '../config.ts';
import { UserError } from '../core/errors.ts';
import { describeUnreached } from '../core/http.ts';
import { duration, unmarked } from '../core/mrkdwn.ts';
import { MINUTE_MS } from '../core/time/clock.ts';
import { readRefusedSignature } from '../listeners/receivers/http-receiver.ts';
import { createLog } from '../observability/log.ts';
import { openDeckhand } from '../open.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { findTokenOwner, isAboutToken } from '../slack/token-health.ts';
import { isPostgres, readBackup } from '../store/open-store.ts';
import { DATA_KEYS, GLOBAL } from '../store/store.ts';
import type { Finding, Health } from '../views/admin/doctor-message.ts';
import type { Program } from './program.ts';
import { existingStore } from './stores.ts';

const FAULT_EXIT_CODE = 1;
const WORDS: Record<Health, string> = { well: 'ok', limited: 'note', broken: 'FAULT' };

export const DOCTOR: Program = {
  command: 'deckhand doctor',
  help: `Usage: deckhand doctor

Checks what /deckhand doctor checks, for every workspace and every key, and Slack's app token. It prints a line for each check:
ok, note, or FAULT. Deckhand may be running; if it is not, due jobs that wait are a fault. Exit code 0, or 1 with a fault.
`,
  async main({ env }) {
    const config = parseConfig(env);
    existingStore({ STORE_URL: config.STORE_URL });
    const log = createLog('silent');
    const { app, close } = await openDeckhand(config, { log, version: readVersion(), access: 'beside' });
    try {
      const findings = [
        ...(await tryAppToken(app)),
        ...(await checkSignature(app)),
        ...(await checkBackup(app)),
        ...(await examineAll(app)),
      ];
      const text = findings.map(printFinding).join('\n');
      return { text, code: findings.some((one) => one.health === 'broken') ? FAULT_EXIT_CODE : 0 };
    } finally {
      await close();
    }
  },
};

function printFinding({ what, health, text }: Finding): string {
  return `${WORDS[health].padEnd(5)}  ${unmarked(what)}: ${unmarked(text)}`;
}

/** Asks Slack for an address of Socket Mode, without using it. */
async function tryAppToken({ parts: { web, config } }: DeckhandApp): Promise<Finding[]> {
  const { SLACK_APP_TOKEN: token } = config;
  if (token === undefined) return [];
  const what = 'App token';
  try {
    await web.call('apps.connections.open', {}, token);
    return [{ what, health: 'well', text: 'the token works' }];
  } catch (error) {
    return [{ what, health: 'broken', text: describeSlackFailure(error) }];
  }
}

async function checkSignature({ parts: { store } }: DeckhandApp): Promise<Finding[]> {
  const refused = await readRefusedSignature(store);
  if (refused === undefined) return [];
  const time = new Date(refused.at).toISOString();
  if (refused.reason === 'stale') {
    const text = `the request at ${time} had another time than this clock, and none since was accepted. Set the clock right`;
    return [{ what: 'Clock', health: 'broken', text }];
  }
  const text = `the request at ${time} had another, and none since had this one. Check SLACK_SIGNING_SECRET`;
  return [{ what: 'Signing secret', health: 'broken', text }];
}

/** Checks the time of the latest `deckhand backup`, if there was any. */
async function checkBackup({ parts: { config, store, clock } }: DeckhandApp): Promise<Finding[]> {
  const backup = isPostgres(config.STORE_URL) ? undefined : await readBackup(store, clock.now());
  if (backup === undefined) return [];
  const { at, due = Number.POSITIVE_INFINITY } = backup;
  const text = `the latest was made at ${new Date(at).toISOString()}`;
  if (clock.now() <= due) return [{ what: 'Backup', health: 'well', text }];
  return [{ what: 'Backup', health: 'broken', text: `${text}, and the nightly one since then was not` }];
}

/** Finds the workspace of the bot token. @returns a finding if Slack does not name it */
async function findOwner({ parts }: DeckhandApp): Promise<Finding | undefined> {
  const { config, web, tokenHealth } = parts;
  const { SLACK_BOT_TOKEN: token } = config;
  if (token === undefined) return undefined;
  try {
    tokenHealth.belongsTo(await findTokenOwner(web, token));
    return undefined;
  } catch (error) {
    return { what: 'Slack', health: 'broken', text: describeSlackFailure(error) };
  }
}

/** @throws any other error, which is a bug */
function describeSlackFailure(error: unknown): string {
  if (!isSlackFailure(error)) throw error;
  const why = describeUnreached(error);
  if (isAboutToken(error)) return `Slack refuses it: ${error.reason}`;
  return `Slack cannot be reached: ${why ?? error.reason}`;
}

/** Stands for the workspace until Slack has named it. No id of Slack's has small letters. */
const UNKNOWN = 'unknown';

async function examineAll(app: DeckhandApp): Promise<Finding[]> {
  const { store, tokenHealth, installations } = app.parts;
  const fault = await findOwner(app);
  const keyed = await store.of(GLOBAL).collection(DATA_KEYS, z.unknown()).list();
  const ids = new Set(keyed.map(({ id }) => id));
  ids.add(tokenHealth.knownOwner() ?? '');
  const installed: string[] = [];
  for (const id of ids) if (id !== '' && (await installations.isInstalled(id))) installed.push(id);
  if (installed.length === 0 && fault === undefined)
    return [{ what: 'Workspaces', health: 'limited', text: 'Deckhand is installed in none' }];
  // Most checks need no workspace.
  if (installed.length === 0) installed.push(UNKNOWN);
  const reports = await Promise.all(
    installed.map(async (id) => {
      const workspace = app.workspaces.open(id);
      const findings = await examine({ workspace, checkScheduler: () => checkScheduler(app) });
      return findings.map((one) => (installed.length === 1 ? one : { ...one, what: `${id} ${one.what}` }));
    }),
  );
  if (fault === undefined) return reports.flat();
  return [fault, ...reports.flat().filter(({ what }) => what !== fault.what)];
}

/** If a job waits this long, no process runs its queue. */
const STUCK_MS = MINUTE_MS;

async function checkScheduler({ parts: { engine } }: DeckhandApp): Promise<string> {
  const queues = Object.values(await engine.stats());
  const oldestMs = Math.max(0, ...queues.map(({ oldestDueMs }) => oldestDueMs));
  if (oldestMs > STUCK_MS)
    throw new UserError(`A job has been due for ${duration(oldestMs)}. Check that Deckhand runs.`);
  return 'no due job waits';
}
