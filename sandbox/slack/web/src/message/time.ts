/** A Slack timestamp (`seconds.micros`) as a date. */
export function dateOf(ts: string): Date {
  return new Date(Number(ts) * 1000);
}

export function clockTime(ts: string): string {
  return new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' }).format(dateOf(ts));
}

/** Without "AM" or "PM", for the narrow margin. */
export function shortTime(ts: string): string {
  return clockTime(ts).replace(/\s?[AP]M$/i, '');
}

export function fullTime(ts: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' }).format(dateOf(ts));
}

/** A day as it stands between messages. */
export function dayOf(ts: string): string {
  return dateOf(ts).toDateString();
}
