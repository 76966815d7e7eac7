/**
 * Times in the reader's own zone, by Slack's date tokens. The fallback, for clients that do not know
 * the token, is UTC and says so.
 */
type Style = 'date_short_pretty' | 'date_num' | 'date_long_pretty';

export function dateTime(at: number | string, style: Style = 'date_short_pretty'): string {
  return token(at, `{${style}} at {time}`);
}

export function dateOnly(at: number | string, style: Style = 'date_short_pretty'): string {
  return token(at, `{${style}}`);
}

export function timeOnly(at: number | string): string {
  return token(at, '{time}');
}

/** "1 min 20 s"; for what has passed, in milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

function token(at: number | string, format: string): string {
  const ms = typeof at === 'number' ? at : Date.parse(at);
  if (!Number.isFinite(ms)) return '—';
  const seconds = Math.floor(ms / 1000);
  const iso = new Date(ms).toISOString();
  return `<!date^${seconds}^${format}|${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC>`;
}
