import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import { ann } from './schedule-acts.ts';
import type { Site } from './site.ts';

const AMOUNT = 3;
/** A year that no other time has. */
const yearOf = (n: number): number => 2000 + n;
/** How the names of its files begin. */
const beginningOf = (n: number): string => `${ACCOUNT}-invoice-${1000 + n}`;
const listNames = (n: number): string[] =>
  Array.from({ length: AMOUNT }, (_, at) => `${beginningOf(n)}${at}.pdf`);

/** Sends a person the PDFs of three invoices, one after another. */
export const pdfs: Act = {
  name: 'invoices pdfs',
  isAlone: true,
  async prepare(site, n) {
    for (let at = 0; at < AMOUNT; at += 1)
      site.service.world.addInvoice({
        account: ACCOUNT,
        number: Number(`${1000 + n}${at}`),
        createdAt: Date.UTC(yearOf(n), 4, 5),
      });
    await ann(site).command(CHANNEL, `/deckhand invoices ${yearOf(n)}`);
    await site.slack.until(() => findAnswer(site, n) !== undefined, { what: 'the period' });
  },
  async ask(site, n) {
    const ts = findAnswer(site, n)?.ts ?? '';
    const { outcome } = await ann(site).click({ channel: CHANNEL, ts }, { actionId: 'invoices:pdfs' });
    return outcome === 'ok';
  },
  // Who gets some of them alone has lost the others.
  seen: (site, n) => Math.min(...countFiles(site, n)),
  word: beginningOf,
  done: (site, n) => countFiles(site, n).reduce((sum, amount) => sum + amount, 1 - AMOUNT),
};

function findAnswer({ slack }: Site, n: number) {
  const answers = slack.ephemerals(TEAM, PEOPLE.admin);
  return answers.findLast(({ text }) => text.startsWith(`Invoices, ${yearOf(n)}`));
}

/** How often each of them was sent. */
function countFiles({ slack }: Site, n: number): number[] {
  const names = slack.files(TEAM).map(({ name }) => name);
  return listNames(n).map((name) => names.filter((one) => one === name).length);
}
