import pino, { type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** The fields a line may have. Any other is dropped, so that no object can leak a secret. */
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
  'metricsPort',
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
  // An API key has 40 characters. API 5.1 (docs/service-api.md). Digests of that length are hidden too.
  [/\b[A-Za-z0-9]{40}\b/g, '[api key]'],
];

/** A second safeguard: hides everything in a finished line that looks like a secret. */
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

/** How late a line of a flood may be written. */
const TOGETHER_MS = 20;

/** What went wrong must stand in the log, also where the process is killed right after. */
const URGENT = /^\{"level":"(?:warn|error|fatal)"/;

/**
 * Writes a line at once where none was written in the last moment; the lines of a flood are written together, since each
 * write takes longer than all the rest of a line. Warnings and errors never wait.
 * @param write must not be asynchronous, for `flush` is called when the process ends
 */
export function writeTogether(write: (lines: string) => void): { add(line: string): void; flush(): void } {
  let waiting: string[] = [];
  let isPaused = false;

  function flush(): void {
    if (waiting.length === 0) return;
    const lines = waiting.join('');
    waiting = [];
    write(lines);
    pause();
  }

  function pause(): void {
    if (isPaused) return;
    isPaused = true;
    const end = (): void => {
      isPaused = false;
      flush();
    };
    setTimeout(end, TOGETHER_MS).unref();
  }

  return {
    add(line) {
      waiting.push(line);
      if (!isPaused || URGENT.test(line)) flush();
    },
    flush,
  };
}

/** Name, code and stack of an error and its causes; never other properties, which may hold requests. */
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
