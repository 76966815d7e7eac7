/** A spreadsheet would run a cell that begins so. */
const FORMULA = /^[=+\-@\t\r]/;
/** An amount below zero is no formula. */
const NUMBER = /^-?\d+(?:\.\d+)?$/;
const SPECIAL = /[",\r\n]/;

/** Writes rows as CSV by RFC 4180. Text that a spreadsheet would run as a formula gets an apostrophe. */
export function writeCsv(rows: ReadonlyArray<readonly string[]>): string {
  return rows.map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(text: string): string {
  const harmless = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return SPECIAL.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
