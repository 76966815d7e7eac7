import { hash } from 'node:crypto';
import { MINUTE_MS } from '../../core/clock.ts';
import { Guard } from '../../records/guards.ts';
import { TimedKind } from '../schedules/timed.ts';

/** Guards run within so long after their time, so that those of one minute do not meet at the service. */
const SPREAD_MS = 5 * MINUTE_MS;

export const GUARDS = new TimedKind<Guard>({
  noun: 'guard',
  schema: Guard,
  recordsOf: ({ guards }) => guards,
  nameOf: ({ project }) => project.name,
  // The same each time.
  delayOf: (id) => hash('sha256', id, 'buffer').readUInt32BE() % SPREAD_MS,
});
