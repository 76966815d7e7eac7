import { isCard } from '../support/asking.ts';
import { CHANNEL, TEAM } from '../support/test-world.ts';
import type { Act } from './acts.ts';
import { ann } from './schedule-acts.ts';
import type { Site } from './site.ts';

/** Makes the channel follow another project than before: three schedules go, and three come. */
export const setup: Act = {
  name: 'setup',
  isAlone: true,
  async prepare(site, n) {
    while (ann(site).openView() !== undefined) await ann(site).close();
    await ann(site).command(CHANNEL, '/deckhand setup');
    const viewId = () => ann(site).openView()?.id ?? '';
    await site.slack.until(() => viewId() !== '', { what: 'the form' });
    await ann(site).suggest({ viewId: viewId() }, { actionId: 'projects', query: `shop${n}x` });
  },
  async ask(site, n) {
    const choices = { projects: [`shop${n}x`], hear: 'failures', guard: 'daily', digest: 'weekly' };
    return (await ann(site).submit('setup', choices)).outcome === 'ok';
  },
  seen: (site, n) => versionsOf(site, n).length,
};

/** The versions of the channel's card that name this time's project alone: in its sentence, and in each of three rows. */
function versionsOf({ slack }: Site, n: number) {
  const cards = slack.messages(TEAM, CHANNEL).filter(isCard);
  return cards
    .flatMap(({ blocks, edits }) => [blocks, ...edits.map((before) => before.blocks)])
    .filter((blocks) => {
      const names = JSON.stringify(blocks).match(/\*Shop\d+x\*/g) ?? [];
      return names.join() === Array.from({ length: 4 }, () => `*Shop${n}x*`).join();
    });
}
