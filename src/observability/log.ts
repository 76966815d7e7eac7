import { randomBytes } from 'node:crypto';
import type { Logger as PinoLogger } from 'pino';
import pino from 'pino';
import {
  AccountFailure,
  AccountKeyUnreadable,
  DocumentUnreadable,
  InstallationEnded,
  ServiceError,
  SlackFailure,
  StoreUnavailable,
  UserError,
} from '../core/errors.ts';
import { escapeControls, isObject } from '../core/json.ts';

export type Logger = PinoLogger;

/** Fields that a line may have. All others are dropped, so that no object can leak a secret. */
const ALLOWED: ReadonlySet<string> = new Set(
  `event reference workspace user channel account project server run command action view queue job
  attempt method operation status kind reason ms port metricsPort host count signal schedule
  digest delivery result role scope version err faults`.split(/\s+/),
);

const SECRETS: ReadonlyArray<[RegExp, string]> = [
  [/\bx(?:ox[a-z]|app|wfp)-[A-Za-z0-9-]+/g, '[slack token]'],
  [/\bxoxe\.[A-Za-z0-9.-]+/g, '[slack token]'],
  [/\bBasic\s+[A-Za-z0-9+/=]{8,}/gi, 'Basic [hidden]'],
  [/\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/gi, 'Bearer [hidden]'],
  [/([?&](?:code|state|token|client_secret|api_key|password)=)[^&\s"']+/gi, '$1[hidden]'],
  // An API key has 40 characters. API 5.1 (docs/service-api.md). Digests of that length are hidden too.
  [/\b[A-Za-z0-9]{40}\b/g, '[api key]'],
];

const ADDRESS = /https?:\/\/[^\s"']+/g;
const RESPONSE_PATH = /\/(?:commands|actions|services|app|workflows)\/[A-Z0-9]/;

/** Hides everything in a finished line that looks like a secret or could break the line, as a second safeguard. */
export function scrub(line: string): string {
  const text = escapeControls(line).replace(ADDRESS, (url) =>
    RESPONSE_PATH.test(url) ? '[response url]' : url,
  );
  return SECRETS.reduce((hidden, [pattern, replacement]) => hidden.replace(pattern, replacement), text);
}

/** Logged properties of an error. Others may hold a request or a row of the database. */
const ERROR_FIELDS = new Set(['type', 'message', 'stack', 'code']);

const REPEAT_MS = 60_000;
/** Events with errors of the libraries behind the store. */
const STORE_EVENTS: ReadonlySet<unknown> = new Set(
  'bolt engine_error not_ready pg_boss_error pg_boss_warning store_error'.split(' '),
);

/** Logs each event once a minute during an outage of the database, which makes everything fail at once. */
function createRepeatFilter(): (fields: unknown) => boolean {
  const loggedAt = new Map<unknown, number>();
  return (fields) => {
    if (!isObject(fields) || 'reference' in fields) return false;
    const { event, err } = fields;
    if (!STORE_EVENTS.has(event) && !isStoreFailure(err)) return false;
    const now = performance.now();
    const isRepeat = now - (loggedAt.get(event) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS;
    if (!isRepeat) loggedAt.set(event, now);
    return isRepeat;
  };
}

function isStoreFailure(error: unknown): boolean {
  return error instanceof StoreUnavailable || (error instanceof Error && isStoreFailure(error.cause));
}

/**
 * Writes JSON lines to the standard output. Each call returns after its line was written, so that no line is lost if
 * the process ends or is killed.
 * @param write receives the lines instead
 */
export function createLog(level: string, write?: (line: string) => void): Logger {
  const isRepeat = createRepeatFilter();
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ['err.*'],
        censor: (value, path) => (ERROR_FIELDS.has(path.at(-1) ?? '') ? value : undefined),
      },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => ALLOWED.has(name))),
      },
      hooks: {
        streamWrite: scrub,
        logMethod(args, method) {
          if (!isRepeat(args[0])) method.apply(this, args);
        },
      },
    },
    write === undefined ? pino.destination({ sync: true }) : { write },
  );
}

/**
 * Logs a failure: a person's mistake as info, a failure of the service or Slack as warn, a bug as error with its stack.
 * Returns the reference that the person also gets, if the failure is unexpected.
 */
export function logFailure(log: Logger, error: unknown, fields: Record<string, unknown>): string | undefined {
  if (error instanceof InstallationEnded) {
    log.info({ event: 'installation_ended', ...fields }, 'Work of an ended installation dropped');
    return undefined;
  }
  if (error instanceof UserError) {
    // Without the message, which may repeat typed text.
    log.info({ event: 'refused', ...fields }, 'Request refused');
    return undefined;
  }
  const outside = error instanceof AccountFailure ? error.cause : error;
  if (outside instanceof ServiceError) {
    const { kind, operation, status, message: reason } = outside;
    const reference = kind === 'unexpected' ? newReference() : undefined;
    // A record that a person named wrongly is no fault of the service.
    const level = kind === 'record_not_found' ? 'info' : 'warn';
    const details = { operation, kind, status, reason, reference };
    log[level]({ event: 'outside_failure', ...fields, ...details }, 'Call to the service or Slack failed');
    return reference;
  }
  const reference = newReference();
  if (outside instanceof SlackFailure) {
    const { kind, method, reason, needed: scope } = outside;
    const details = { method, kind, reason, scope, ...(kind === 'rejected' ? { reference } : {}) };
    log.warn({ event: 'outside_failure', ...fields, ...details }, 'Call to the service or Slack failed');
    return kind === 'rejected' ? reference : undefined;
  }
  const storeFailures = [StoreUnavailable, DocumentUnreadable, AccountKeyUnreadable];
  const isStoreFault = storeFailures.some((type) => error instanceof type);
  const event = isStoreFault ? 'store_failed' : 'bug';
  log.error({ event, ...fields, reference, err: error }, 'Unexpected error');
  return reference;
}

/** Makes an id for a failure, for the person and the log. */
export function newReference(): string {
  return randomBytes(4).toString('hex');
}
