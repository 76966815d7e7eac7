/** An exact decimal number: `units` of a power of ten. "-7.60" is -760 units of two digits. */
export interface Decimal {
  units: bigint;
  /** Number of digits after the point. */
  digits: number;
}

const NOTHING = BigInt(0);
const TEN = BigInt(10);

export const ZERO: Decimal = { units: NOTHING, digits: 0 };

/** Longer than any amount. */
const MAX_TEXT = 60;

/** The code of a currency in capitals; undefined for any other text. */
export function readCurrency(currency: string | null | undefined): string | undefined {
  return /^[a-z]{3}$/i.test(currency ?? '') ? (currency ?? '').toUpperCase() : undefined;
}

/** Digits after the point: 2 for euros and for an unknown currency, none for yen, 3 for Kuwaiti dinars. */
export function countCurrencyDigits(currency: string | undefined): number {
  if (currency === undefined) return 2;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().minimumFractionDigits ?? 2;
}

const MINUS = /[-\u2010-\u2015\u2212\ufe63\uff0d]/gu;
const SPACE = /[\s\u00a0\u2007\u2009\u202f]+/gu;
const APOSTROPHE = /['\u2019\u02bc]/gu;
/** Figures with a sign and a name of the currency on either side. */
const WHOLE =
  /^(?<before>[-+]?) ?(?<prefix>[^\d\s.,'+-]*) ?(?<after>[-+]?) ?(?<figures>\d(?:[\d.,' ]*\d)?) ?(?<behind>[-+]?) ?(?<suffix>[^\d\s.,'+-]*) ?(?<last>[-+]?)$/u;
/** Signs of one currency alone. Many have a dollar. */
const SIGNS: Readonly<Record<string, string>> = {
  '€': 'EUR',
  '£': 'GBP',
  '₹': 'INR',
  '₩': 'KRW',
  '₽': 'RUB',
};

/** Signs that several currencies have. */
const SHARED_SIGN = /^(?:[A-Z]{0,3}\$|¥|円|kr|Fr|zł|Kč|Ft|lei)$/u;

/**
 * Reads an amount, however it is spelt: "-12.00", "(12.00)", "€12.00", "12,50 EUR", "1 234.50", "1.234,50", "12.00-". A point is
 * the decimal point, unless a comma follows it.
 * @param currency its code, in any letter case
 * @returns undefined for text that can be read in two ways, such as "1,234" in a currency of three digits, or is not an amount
 * of this currency
 */
export function parseAmount(text: string, currency: string | null | undefined): Decimal | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const plain = text.replace(MINUS, '-').replace(SPACE, ' ').replace(APOSTROPHE, "'").trim();
  const bracketed = /^\((.*)\)$/.exec(plain)?.[1];
  const parts = WHOLE.exec((bracketed ?? plain).trim())?.groups ?? {};
  const { figures, prefix = '', suffix = '', ...signs } = parts;
  const signed = [bracketed && '-', ...Object.values(signs)].filter(Boolean);
  if (figures === undefined || signed.length > 1 || (prefix !== '' && suffix !== '')) return undefined;
  const ours = readCurrency(currency);
  if (!mayName(prefix, ours) || !mayName(suffix, ours)) return undefined;
  const number = readFigures(figures, ours);
  return number && signed[0] === '-' ? negate(number) : number;
}

/** True if a name or sign beside an amount does not contradict its currency. */
function mayName(name: string, currency: string | undefined): boolean {
  if (name === '') return true;
  if (currency === undefined) return false;
  const alone = SIGNS[name] ?? readCurrency(name);
  return alone === undefined ? SHARED_SIGN.test(name) : alone === currency;
}

/** Spellings of a number without a sign, each with its decimal sign. */
const SPELLINGS: ReadonlyArray<readonly [RegExp, point?: string]> = [
  [/^\d+$/],
  [/^\d+\.\d+$/, '.'],
  [/^\d{1,3}(?<group>[ '])\d{3}(?:\k<group>\d{3})*$/],
  [/^\d{1,3}(?<group>[ '])\d{3}(?:\k<group>\d{3})*\.\d+$/, '.'],
  [/^\d{1,3}(?<group>[ '])\d{3}(?:\k<group>\d{3})*,\d+$/, ','],
  [/^\d{1,3}(?:,\d{3})+\.\d+$/, '.'],
  [/^\d{1,3}(?:\.\d{3})+,\d+$/, ','],
  [/^\d{1,3}(?:,\d{3}){2,}$/],
  [/^\d{1,3}(?:\.\d{3}){2,}$/],
  [/^\d+,(?!\d{3}$)\d+$/, ','],
  // No group of thousands begins with a zero or has four digits.
  [/^(?:0|\d{4,}),\d{3}$/, ','],
];

/** One comma before three digits. */
const THOUSANDS = /^\d{1,3},\d{3}$/;

function readFigures(figures: string, currency: string | undefined): Decimal | undefined {
  if (THOUSANDS.test(figures) && !figures.startsWith('0')) {
    const isClear = currency !== undefined && countCurrencyDigits(currency) !== 3;
    return isClear ? { units: BigInt(figures.replace(',', '')), digits: 0 } : undefined;
  }
  const spelling = SPELLINGS.find(([pattern]) => pattern.test(figures));
  if (spelling === undefined) return undefined;
  const [, point] = spelling;
  const fraction = point === undefined ? '' : figures.slice(figures.lastIndexOf(point) + 1);
  return { units: BigInt(figures.replace(/\D/g, '')), digits: fraction.length };
}

export function negate({ units, digits }: Decimal): Decimal {
  return { units: -units, digits };
}

/** The same amount below zero, or zero. */
export function makeNegative({ units, digits }: Decimal): Decimal {
  return { units: units > NOTHING ? -units : units, digits };
}

export function add(one: Decimal, other: Decimal): Decimal {
  const digits = Math.max(one.digits, other.digits);
  const scale = ({ units, digits: own }: Decimal): bigint => units * TEN ** BigInt(digits - own);
  return { units: scale(one) + scale(other), digits };
}

/** "-7.60": a point, and at least so many digits after it. */
export function writeDecimal({ units, digits }: Decimal, minDigits: number): string {
  const figures = String(units < NOTHING ? -units : units).padStart(digits + 1, '0');
  const whole = figures.slice(0, figures.length - digits);
  const fraction = figures.slice(figures.length - digits).padEnd(minDigits, '0');
  return `${units < NOTHING ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

export function isZero({ units }: Decimal): boolean {
  return units === NOTHING;
}

export function isNegative({ units }: Decimal): boolean {
  return units < NOTHING;
}
