import type { Hono } from 'hono';
import { z } from 'zod';
import { openDetails } from './deliver/details.ts';
import type { Someone } from './deliver/shared.ts';
import { inBackground, type World } from './world.ts';

const Who = z.object({ team: z.string(), user: z.string() });
const Open = Who.extend({ channel: z.string(), ts: z.string(), url: z.string() });

/** The panes of work objects: what the app puts into them comes by the stream. */
export function addPanes(
  world: World,
  page: Hono,
  readActor: (world: World, who: z.infer<typeof Who>) => Someone,
): void {
  page.post('/panes', async (context) => {
    const { url, ...body } = Open.parse(await context.req.json());
    inBackground(world, openDetails(world, readActor(world, body), body, url));
    return context.json({ ok: true });
  });
  page.post('/panes/close', async (context) => {
    const { workspace, person } = readActor(world, Who.parse(await context.req.json()));
    workspace.panes.delete(person.id);
    world.changes.emit({ type: 'pane', team: workspace.id, user: person.id });
    return context.json({ ok: true });
  });
}
