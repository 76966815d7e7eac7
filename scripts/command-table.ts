import { allCommands } from '../src/commands/registry.ts';
import { usageLine } from '../src/views/help/help.ts';

/** Prints the guide's table of commands; `npm test` holds them equal. */
const WHO = { member: 'everybody', operator: 'operators', billing: 'billing', admin: 'admins' } as const;
console.log('| command | what it does | for |\n| --- | --- | --- |');
for (const command of allCommands()) {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  console.log(`| \`${cell(usageLine(command))}\` | ${cell(command.summary)} | ${WHO[command.role]} |`);
}
