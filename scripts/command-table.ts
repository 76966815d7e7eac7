import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { allCommands } from '../src/commands/registry.ts';
import { usageLine } from '../src/views/help/help-messages.ts';

const GUIDE = join(import.meta.dirname, '..', 'docs', 'guide.md');
const WHO = { member: 'everybody', operator: 'operators', billing: 'billing', admin: 'admins' } as const;
const HEAD = '| command | what it does | for |\n| --- | --- | --- |';

/** The guide's table of commands, from their records. */
export function drawCommandTable(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const rows = allCommands().map(
    (command) => `| \`${cell(usageLine(command))}\` | ${cell(command.summary)} | ${WHO[command.role]} |`,
  );
  return [HEAD, ...rows].join('\n');
}

/** `npm run guide` writes the table into the guide. */
if (process.argv[1] === import.meta.filename) {
  const guide = readFileSync(GUIDE, 'utf8');
  const start = guide.indexOf(HEAD);
  const end = guide.indexOf('\n\n', start);
  writeFileSync(GUIDE, guide.slice(0, start) + drawCommandTable() + guide.slice(end));
}
