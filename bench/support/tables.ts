/** Prints a Markdown table; the first column is words, the others are figures. */
export function printTable(head: readonly string[], rows: ReadonlyArray<readonly (string | number)[]>): void {
  console.log(`| ${head.join(' | ')} |`);
  console.log(`| ${head.map((_, at) => (at === 0 ? '---' : '---:')).join(' | ')} |`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}

export function mega(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
