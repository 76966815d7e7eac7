/**
 * An amount in its own currency, e.g. "7.60 EUR". A text is shown as it is given; a number has the digits that its
 * currency has at least. `currency` is a code in any letter case; where it is unknown, the number alone is shown. Nothing
 * is rounded.
 */
export function money(amount: number | string | null, currency: string | null | undefined): string {
  const known = /^[a-z]{3}$/i.test(currency ?? '') ? (currency ?? '').toUpperCase() : undefined;
  const decimal = String(amount).trim();
  if (!/^[-+]?\d[\d.,' ]*$/.test(decimal)) return '—';
  const shown = typeof amount === 'number' ? withDigits(decimal, known) : decimal;
  return known === undefined ? shown : `${shown} ${known}`;
}

/** "7.60 EUR a month" */
export function monthly(amount: number | null, currency: string | null | undefined): string {
  return amount === null ? '—' : `${money(amount, currency)} a month`;
}

function withDigits(decimal: string, currency: string | undefined): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const padded = fraction.padEnd(digitsOf(currency), '0');
  return padded === '' ? whole : `${whole}.${padded}`;
}

/** How many digits stand behind the point: 2 for euros, none for yen. */
function digitsOf(currency: string | undefined): number {
  if (currency === undefined) return 2;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().minimumFractionDigits ?? 2;
}
