import type { Deployment, LogEntry, Step } from './deployments.ts';

/** Most of an entry's text that is read, from its end. */
const MAX_ENTRY = 64 * 1024;
/** Most of a log that is read, from its end. */
const MAX_LOG = 512 * 1024;
/** The beginning of a longer line is read. */
const MAX_LINE = 4_000;

/** Sequences for terminals. Node's own pattern takes quadratic time for hostile text. */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: such sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]?|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])/g;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

interface LogLine {
  text: string;
  /** True if the service calls its entry an error. */
  isError: boolean;
  /** True for output of a command, instead of the entry's message. */
  isOutput: boolean;
  entry: number;
}

/** The lines of a log without colours, control characters, and what a progress bar has overwritten. Empty lines are left out. */
export function readLines(entries: readonly LogEntry[]): LogLine[] {
  const newestFirst: LogLine[][] = [];
  let left = MAX_LOG;
  for (let at = entries.length - 1; at >= 0 && left > 0; at -= 1) {
    const { message = '', detail = '', type = '' } = entries[at] ?? {};
    const isError = ERROR_TYPE.test(type);
    const output = detail.slice(-Math.min(MAX_ENTRY, left));
    left -= output.length + message.length;
    newestFirst.push([
      ...splitLines(message.slice(0, MAX_ENTRY)).map((text) => ({
        text,
        isError,
        isOutput: false,
        entry: at,
      })),
      ...splitLines(output).map((text) => ({ text, isError, isOutput: true, entry: at })),
    ]);
  }
  return newestFirst.toReversed().flat();
}

function splitLines(text: string): string[] {
  const lines = text.replace(SEQUENCE, '').split('\n');
  return lines.map(cleanLine).filter((line) => line.trim() !== '');
}

function cleanLine(line: string): string {
  // A carriage return starts the line again.
  const parts = line.split('\r').filter((part) => part.trim() !== '');
  return (parts.at(-1) ?? '').slice(0, MAX_LINE).replaceAll('\t', '  ').replace(INVISIBLE, '').trimEnd();
}

const ERROR_TYPE = /err|fail|fatal|crit|danger/i;
const ERROR_WORDS =
  /\b(?:err(?:or|ors)?\b|err!|fatal|failed|failure|fail|exception|panic|denied|refused|rejected|forbidden|unauthorized|not found|no such|cannot|can't|could not|couldn't|unable to|timed? ?out|missing|invalid|undefined|unexpected|unreachable|no space left|no route|out of memory|killed|aborted|traceback)|error:|✗|✖/i;
const NO_ERROR =
  /\b(?:0|no|without|zero)(?: \w+)? (?:errors?|failures?|failed)\b|\berrors?: 0\b|\bfailed: 0\b/i;
/** Ends of logs that name no reason. */
const TRAILER =
  /^(?:npm (?:ERR!|error))?\s*(?:$|npm run\b|A complete log of this run|\S*[\\/]_?logs?[\\/]\S*$|To see a list of|code \S+$|errno \S+$|Exit status \d+|This is probably not a problem)|^(?:the |a )?(?:build |deployment |deploy |step |command |process |script |task )*(?:has )?(?:failed|ended|exited|finished|completed|terminated|returned|error)?[.:!]?\s*(?:\(?with )?(?:an )?(?:(?:exit |status )*(?:code|status):? ?-?\d+\)?|error)?[.!]*$|\b(?:exit(?:ed)?(?: with)?(?: an?)?|returned(?: a)?|with) (?:non-zero )?(?:exit )?(?:code|status)(?: of)?:? ?-?\d*\.?$|^make(?:\[\d+\])?: \*\*\*/i;

/**
 * The line that says why a step failed, with its number; undefined for an empty log. It is the last line that says an error, unless that
 * line names no reason, such as "exit status 1"; without such a line it is the last one.
 * @returns `isSure` false if no line says an error
 */
export function findErrorLine(lines: readonly LogLine[]): { at: number; isSure: boolean } | undefined {
  if (lines.length === 0) return undefined;
  const errors = listErrors(lines);
  const best =
    errors.findLast(({ isError, isTrailer }) => isError && !isTrailer) ??
    errors.findLast(({ isTrailer }) => !isTrailer) ??
    errors.findLast(({ isError }) => isError) ??
    errors.at(-1);
  return best === undefined ? { at: lines.length - 1, isSure: false } : { at: best.at, isSure: true };
}

/** The lines that say an error, each entry's by itself. */
function listErrors(lines: readonly LogLine[]) {
  const last = new Map(lines.map((line, at) => [line.entry, at]));
  const hasOutput = new Set(lines.filter(({ isOutput }) => isOutput).map(({ entry }) => entry));
  const saying = lines.map(({ text }) => ERROR_WORDS.test(text) && !NO_ERROR.test(text));
  const withWords = new Set(
    lines.flatMap(({ entry, isOutput }, at) => (saying[at] && isOutput ? [entry] : [])),
  );
  return lines.flatMap(({ text, isError, isOutput, entry }, at) => {
    // The message of an error with output only says that something failed.
    const isCovered = isError && !isOutput && hasOutput.has(entry);
    const isLastOfError = isError && last.get(entry) === at && !withWords.has(entry);
    const says = (saying[at] === true && !isCovered) || isLastOfError;
    return says ? [{ at, isError, isTrailer: TRAILER.test(text.trim()) }] : [];
  });
}

const FAILED = /fail|err|timed? ?out|refus|broken/i;
/** Steps beside the failed one may be cancelled. */
const CANCELLED = /abort|cancel/i;
const DONE =
  /complete|success|succeed|done|ok\b|pass|skip|finish|pending|wait|queue|not.?started|created|preview/i;

/** The first failed step, or else the one in which the deployment ended. */
export function findFailedStep(steps: readonly Step[]): Step | undefined {
  return (
    steps.find(({ status }) => FAILED.test(status)) ??
    steps.find(({ status }) => CANCELLED.test(status)) ??
    steps.find(({ status }) => status !== '' && !DONE.test(status))
  );
}

/** False if the step does not need a connection to a server: the deployment was prepared, built or checked. */
export function connects({ step, stage }: Step): boolean {
  return !/prepar|build|compil|check|verif/i.test(`${stage} ${step}`);
}

/** Words that no failed deployment has. */
const NOT_FAILED =
  /^(?:completed?|success\w*|succeeded|done|ok|passed|running|pending|queued|preview\w*|scheduled|waiting)$/i;
const MAX_DISTANCE_MS = 2 * 60_000;
const MIN_REF = 7;

/** A failed deployment as the feed has it. Undefined for what the event does not say. */
export interface FailedEvent {
  ref: string | undefined;
  /** Names. */
  servers: readonly string[];
  /** Milliseconds since the epoch, at most the time at which the event was read. */
  at: number;
}

/**
 * Finds the deployment of an event: the nearest in time of those that fit. The service's clock may be ahead.
 * @param now milliseconds since the epoch
 */
export function matchDeployment(
  deployments: readonly Deployment[],
  { ref, servers, at }: FailedEvent,
  now: number,
): Deployment | undefined {
  const distance = ({ timestamps: { completed_at: ended } }: Deployment) =>
    ended === null ? MAX_DISTANCE_MS : Math.abs(Math.min(Date.parse(ended), now) - at);
  const fits = (one: Deployment) =>
    !NOT_FAILED.test(one.status.trim()) &&
    isSameRef(one.end_revision?.ref, ref) &&
    isOnServers(one, servers) &&
    distance(one) <= MAX_DISTANCE_MS;
  return deployments.filter(fits).toSorted((one, other) => distance(one) - distance(other))[0];
}

/** Either may be short. */
function isSameRef(one = '', other = ''): boolean {
  if (one === '' || other === '') return other === '';
  const [short = '', long = ''] = [one.toLowerCase(), other.toLowerCase()].toSorted(
    (a, b) => a.length - b.length,
  );
  return short === long || (short.length >= MIN_REF && long.startsWith(short));
}

function isOnServers({ servers }: Deployment, names: readonly string[]): boolean {
  const requested = new Set(names.map((name) => name.toLowerCase()));
  const own = servers.map(({ name }) => name.toLowerCase()).filter(Boolean);
  return requested.size === 0 || own.length === 0 || own.some((name) => requested.has(name));
}
