import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, mrkdwn, sanitize, truncateMarkup } from '../../core/mrkdwn.ts';
import { button, buttons, preformatted, section } from '../blocks/make-blocks.ts';

/** The last lines of a failed step, from the service. Secrets in them are hidden. */
export interface LogLines {
  /** Name of the project. */
  project: string;
  /** "Building: npm run build" */
  step: string;
  lines: readonly string[];
}

/** Longest line; 20 of them fit into a message. */
const MAX_LINE = 300;
const MAX_TEXT = 1_500;

/** Private message with a button that shares it. @param value names the failure and its step */
export function logMessage(log: LogLines, value: unknown): Message {
  const share = button('Share in the thread', 'failure:share-log', { value });
  return drawLog(`The last lines of ${nameStep(log)}:`, log, buttons(log.lines.length > 0 && share));
}

/** Reply in the thread of the failure. */
export function sharedLogMessage(log: LogLines, user: string): Message {
  return drawLog(`<@${user}> shares the last lines of ${nameStep(log)}:`, log, []);
}

function nameStep({ step, project }: LogLines): string {
  return `${bold(step, 120)} in ${mrkdwn(project, 80)}`;
}

function drawLog(title: string, { lines }: LogLines, more: readonly KnownBlock[]): Message {
  const rows = lines.map((line) => sanitize(line, MAX_LINE));
  const output = preformatted(rows.join('\n') || 'The log is empty.');
  const words = `${title.replaceAll('*', '')} ${rows.map((row) => mrkdwn(row)).join(' ')}`;
  return { text: truncateMarkup(words, MAX_TEXT), blocks: [section(title), output, ...more] };
}
