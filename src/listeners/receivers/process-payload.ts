import { type App, UnknownError } from '@slack/bolt';
import { ZodError } from 'zod';
import type { Logger } from '../../observability/log.ts';
import { findShape } from '../payloads/schemas.ts';

/** What Slack is told. */
export interface Ack {
  answer: unknown;
}

/**
 * Hands a payload to Bolt, and keeps the ack until all middleware has run: Bolt acknowledges an event before, and what
 * changes something must be stored by then.
 * @returns undefined where nobody understood it @throws what the middleware threw, so that Slack sends it again
 */
export async function processPayload(
  app: App | undefined,
  body: Record<string, unknown>,
  log: Logger,
): Promise<Ack | undefined> {
  if (body.type === 'app_rate_limited') {
    // Slack sends it once a minute in place of a workspace's events.
    log.warn({ event: 'events_limited', workspace: JSON.stringify(body.team_id) }, 'Slack leaves out events');
    return { answer: undefined };
  }
  const shape = findShape(body.type);
  if (shape === undefined) {
    log.info({ event: 'payload_unknown' }, 'a payload of a type without a handler was acknowledged');
    return { answer: undefined };
  }
  const acks: Ack[] = [];
  try {
    // Bolt takes the shape for granted, and fails in ways of its own.
    shape.parse(body);
    await app?.processEvent({ body, ack: async (answer: unknown) => void acks.push({ answer }) });
  } catch (error) {
    const cause = error instanceof UnknownError ? error.original : error;
    // Our listeners throw a ZodError; Bolt itself throws a bare TypeError if a part has an unexpected type.
    if (!(cause instanceof ZodError) && !(error instanceof TypeError)) throw cause;
    log.warn({ event: 'payload_malformed', err: cause }, 'Payload does not have the shape of its type');
    return undefined;
  }
  return acks[0];
}
