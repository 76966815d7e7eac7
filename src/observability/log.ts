import pino, { type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** The fields a line may have. Anything else is dropped, so that a careless object cannot carry a secret out. */
const ALLOWED = new Set([
  'event',
  'reference',
  'workspace',
  'user',
  'channel',
  'account',
  'project',
  'server',
  'run',
  'command',
  'action',
  'view',
  'queue',
  'job',
  'attempt',
  'method',
  'operation',
  'status',
  'kind',
  'reason',
  'ms',
  'port',
  'host',
  'count',
  'signal',
  'schedule',
  'slot',
  'digest',
  'delivery',
  'result',
  'role',
  'version',
  'err',
  'faults',
]);

const SECRETS: ReadonlyArray<[RegExp, string]> = [
  [/\bx(?:ox[a-z]|app|wfp)-[A-Za-z0-9-]+/g, '[slack token]'],
  [/\bxoxe\.[A-Za-z0-9.-]+/g, '[slack token]'],
  [/\bBasic\s+[A-Za-z0-9+/=]{8,}/gi, 'Basic [hidden]'],
  [/\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/gi, 'Bearer [hidden]'],
  [/https?:\/\/[^\s"']*\/(?:commands|actions|services|app|workflows)\/[A-Z0-9][^\s"']*/g, '[response url]'],
  [/([?&](?:code|state|token|client_secret|api_key|password)=)[^&\s"']+/gi, '$1[hidden]'],
  // An API key has 40 characters (spec 5.1); a digest of that length is hidden too, which costs nothing.
  [/\b[A-Za-z0-9]{40}\b/g, '[api key]'],
];

/** The second net: takes out of a finished line whatever looks like a secret. */
export function scrub(line: string): string {
  return SECRETS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);
}

/** JSON lines; `write` gets each finished, scrubbed line. */
export function createLog(level: string, write: (line: string) => void): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => ALLOWED.has(name))),
      },
    },
    { write: (line: string) => write(scrub(line)) },
  );
}

/** Names, codes and stacks, down the causes; never the other properties, which may hold requests. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  return {
    type: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}
