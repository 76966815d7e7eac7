import { type App, UnknownError } from '@slack/bolt';
import { ZodError } from 'zod';
import type { Logger } from '../../observability/log.ts';
import { findShape } from '../payloads/schemas.ts';

/** An acknowledgement, with what Slack shows for it. */
export interface Ack {
  answer: unknown;
}

/**
 * Parses a payload and hands it to Bolt; listeners read the result with `parsedPayload`. Keeps the ack until all
 * listeners have returned: Bolt acknowledges an event before, but what changes something must be stored first.
 * @returns undefined if the payload is malformed
 * @throws errors of listeners, so that Slack sends the payload again
 */
export async function processPayload(
  app: App | undefined,
  body: Record<string, unknown>,
  log: Logger,
): Promise<Ack | undefined> {
  if (body.type === 'app_rate_limited') {
    // Slack sends it once a minute in place of a workspace's events.
    log.warn({ event: 'events_limited', workspace: JSON.stringify(body.team_id) }, 'Slack dropped events');
    return { answer: undefined };
  }
  const shape = findShape(body.type);
  if (shape === undefined) {
    log.info({ event: 'payload_unknown' }, 'Payload of an unknown type acknowledged');
    return { answer: undefined };
  }
  const acks: Ack[] = [];
  try {
    // Parsed before Bolt has it, because Bolt throws errors of its own on a payload without its parts.
    const customProperties = { shape, payload: shape.parse(body) };
    const ack = async (answer: unknown): Promise<void> => void acks.push({ answer });
    await app?.processEvent({ body, ack, customProperties });
  } catch (error) {
    const cause = error instanceof UnknownError ? error.original : error;
    // Bolt itself throws a bare TypeError if a part that only Bolt reads has an unexpected type.
    if (!(cause instanceof ZodError) && !(error instanceof TypeError)) throw cause;
    log.warn({ event: 'payload_malformed', err: cause }, 'Malformed payload refused');
    return undefined;
  }
  return acks[0];
}
