import { Digest } from '../../records/digests.ts';
import { TimedKind } from '../schedules/timed.ts';

export const DIGESTS = new TimedKind<Digest>({
  noun: 'digest',
  schema: Digest,
  recordsOf: ({ digests }) => digests,
});
