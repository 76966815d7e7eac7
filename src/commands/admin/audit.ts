import { z } from 'zod';
import { defined } from '../../core/json.ts';
import type { Message } from '../../core/message.ts';
import { AuditPage, auditMessage, MAX_ON_PAGE } from '../../views/admin/audit-message.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';

const DEFAULT_SIZE = 20;
const SIZES = /^(?:[\d.-]+|all)$/i;
const SIZE = `Give how many entries a page has, from 1 to ${MAX_ON_PAGE}.`;

export const audit = defineCommand({
  name: 'audit',
  phrase: 'shows who did what',
  synonyms: ['audit log', 'auditlog', 'trail'],
  phrases: {
    'who changed|did|removed|deleted|paused|added|moved|muted|edited|set|connected|disconnected|created +':
      '',
    'what was|did|has changed|refused|deckhand|people *': '',
    'audit|change|access trail|log|history|logs *': '',
  },
  isHarmless: true,
  summary: 'Shows who did what, and what was refused, newest first',
  usage: '[n]',
  examples: ['audit', 'audit 50'],
  role: 'admin',
  args: z.object({
    n: z
      .string()
      .default(String(DEFAULT_SIZE))
      // A name, such as that of a project, narrows nothing.
      .transform((text) => (SIZES.test(text) ? Number(text) : DEFAULT_SIZE))
      .refine((n) => Number.isInteger(n) && n >= 1 && n <= MAX_ON_PAGE, SIZE),
  }),
  handle: async ({ n }, context) => replyPrivately(await readAuditPage({ size: n, offset: 0 }, context)),
  actions: [
    defineButton(AuditPage, {
      actionId: 'audit:page',
      handle: async (page, context) => replyInPlace(await readAuditPage(page, context)),
    }),
  ],
});

async function readAuditPage(page: AuditPage, { workspace }: CommandContext): Promise<Message> {
  const { upTo, size, offset } = page;
  const from = { offset, ...defined({ upTo }) };
  const read = await workspace.audit.latest(size + 1, from);
  const entries = read.slice(0, size).map(({ entry }) => entry);
  return auditMessage(entries, { ...page, upTo: upTo ?? read[0]?.id }, read.length > size);
}
