/** A Markdown table; the first column is words, the others are figures. */
export function tableOf(head: readonly string[], rows: ReadonlyArray<readonly (string | number)[]>): string {
  const marks = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, marks, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

export function printTable(head: readonly string[], rows: ReadonlyArray<readonly (string | number)[]>): void {
  console.log(tableOf(head, rows));
}

export function mega(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`;
}

export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
