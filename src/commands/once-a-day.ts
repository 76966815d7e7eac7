import { hash } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../core/clock.ts';
import type { Caller } from '../core/reply.ts';
import type { Workspace } from '../workspace/workspace.ts';

const Request = z.object({ request: z.string() });

/**
 * Whether somebody may still have Deckhand write to another person today; from then on not. The same request may, for it
 * is repeated after a kill.
 * @param about the asker, the recipient and the matter
 */
export async function isFirstToday(
  { store, clock }: Pick<Workspace, 'store' | 'clock'>,
  { requestId: request }: Pick<Caller, 'requestId'>,
  about: readonly string[],
): Promise<boolean> {
  const asked = store.collection('asked-today', Request);
  const id = hash('sha256', JSON.stringify(about), 'base64url');
  if (await asked.create(id, { request }, clock.now() + DAY_MS)) return true;
  return (await asked.get(id))?.request === request;
}
