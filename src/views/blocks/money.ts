/**
 * An amount in its own currency, e.g. "€7.60". `currency` is a code in any letter case; where it is unknown, the number
 * alone is shown. Nothing is rounded.
 */
export function money(amount: number | string | null, currency: string | null | undefined): string {
  if (amount === null) return '—';
  const decimal = String(amount).trim();
  if (!/^-?\d+(\.\d+)?$/.test(decimal)) return '—';
  const isCurrency = /^[a-z]{3}$/i.test(currency ?? '');
  const format = isCurrency
    ? new Intl.NumberFormat('en', {
        style: 'currency',
        currency: (currency ?? '').toUpperCase(),
        maximumFractionDigits: 20,
      })
    : new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 20 });
  return format.format(decimal as `${number}`);
}

/** "€7.60 a month" */
export function monthly(amount: number | null, currency: string | null | undefined): string {
  return amount === null ? '—' : `${money(amount, currency)} a month`;
}
