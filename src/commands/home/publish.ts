import { z } from 'zod';
import { withTimeout } from '../../core/timeout.ts';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import type { EventBody } from '../../listeners/events.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { homeView, type ShownFigures } from '../../views/home/home.ts';
import { figuresOf } from './figures.ts';
import { loadHome } from './load-home.ts';

/** Who had it open lately, and the version that Slack shows them. */
const Viewer = z.object({ openedAt: z.number(), hash: z.string().optional() });

const LATELY_MS = 60 * 60_000;
/** More than these would not be shown soon any more; whoever opens it sees it anew anyway. */
const MOST_VIEWERS = 15;
/** Figures that come within this go into the first view already. */
const FIGURES_PATIENCE_MS = 300;

const Opened = z.object({
  user: z.string(),
  tab: z.string().nullish(),
  view: z.object({ hash: z.string().nullish() }).nullish(),
});

/** Shows what is known at once; the service's figures follow. */
export async function homeOpened(deckhand: Deckhand, workspace: string, { event }: EventBody): Promise<void> {
  const { user, tab, view } = Opened.parse(event);
  if (tab === 'messages') return;
  const figures = figuresOf(deckhand, workspace);
  const early = await withTimeout(deckhand.clock, FIGURES_PATIENCE_MS, figures);
  const hash = view?.hash ?? undefined;
  const openedAt = deckhand.clock.now();
  await publish(deckhand, workspace, user, { figures: early ?? 'loading', openedAt, hash });
  if (early === undefined) await publish(deckhand, workspace, user, { figures: await figures, openedAt });
}

/** Shows everybody who had it open lately how it stands now. */
export async function refreshHome(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  const { workspace } = job.data;
  const viewers = (await viewersOf(deckhand).list(workspace))
    .toSorted((one, other) => other.doc.openedAt - one.doc.openedAt)
    .slice(0, MOST_VIEWERS);
  deckhand.home.seenBy(workspace, viewers.length);
  if (viewers.length === 0) return;
  const figures = await figuresOf(deckhand, workspace);
  for (const { id } of viewers) {
    job.signal.throwIfAborted();
    await publish(deckhand, workspace, id, { figures });
  }
}

interface Publishing {
  figures: ShownFigures;
  /** Set where the person opens it now. */
  openedAt?: number;
  /** The version that Slack says is shown. */
  hash?: string | undefined;
}

/**
 * One at a time for each person, in all replicas, and what is shown is read within that turn: so the later one is the
 * newer one, and replaces whatever stands there.
 */
async function publish(
  deckhand: Deckhand,
  workspace: string,
  user: string,
  { figures, openedAt, hash: shown }: Publishing,
): Promise<void> {
  const viewers = viewersOf(deckhand);
  await deckhand.store.exclusive(`home ${workspace} ${user}`, async () => {
    const known = await viewers.get(workspace, user);
    const view = homeView({ ...(await loadHome(deckhand, workspace, user)), figures });
    const send = (hash: string | undefined): Promise<string | undefined> =>
      deckhand.slack
        .call(workspace, 'views.publish', (client) =>
          client.views.publish({ user_id: user, view, ...(hash ? { hash } : {}) }),
        )
        .then((answer) => answer.view?.hash);
    try {
      const hash = await send(known?.hash ?? shown).catch((error: unknown) => {
        if (isSlackFailure(error) && error.reason === 'hash_conflict') return send(undefined);
        throw error;
      });
      const at = openedAt ?? known?.openedAt ?? deckhand.clock.now();
      await viewers.put(
        workspace,
        user,
        { openedAt: at, ...(hash === undefined ? {} : { hash }) },
        at + LATELY_MS,
      );
    } catch (error) {
      if (!isSlackFailure(error) || isSlackFailure(error, 'busy', 'unreachable')) throw error;
      await viewers.delete(workspace, user);
      const { reason } = error;
      deckhand.log.warn({ event: 'home_refused', workspace, user, reason }, 'Slack did not take App Home');
    }
  });
}

function viewersOf({ store }: Deckhand): ReturnType<typeof store.collection<z.infer<typeof Viewer>>> {
  return store.collection('home-viewers', Viewer);
}
