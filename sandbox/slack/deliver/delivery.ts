import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Delivery, DeliveryKind, DeliveryOutcome } from '../state/delivery.ts';
import { newId } from '../state/ids.ts';
import type { Json } from '../state/types.ts';
import { remember } from '../web-api/log.ts';
import type { World } from '../world.ts';
import { signatureHeaders } from './sign.ts';
import { sendOverSocket } from './socket-mode.ts';

export interface ToDeliver {
  kind: DeliveryKind;
  name: string;
  team: string;
  user?: string;
  payload: Json;
  /** How the payload travels: commands as a form, interactions as a form's `payload`, events as JSON. */
  as: 'form' | 'payload' | 'json';
  attempt?: number;
  retryReason?: string;
  /** Sent without a signature, which Slack does to look at a certificate only. */
  unsigned?: boolean;
  /** Signed for this time at the earliest: an attempt of a later second has a signature of its own. */
  notBefore?: number;
}

/** The app's answer to a delivery counts only below this size. */
const MAX_BODY = 1_000_000;

/** Signs and sends one request to the app; never throws, the outcome says what happened. */
export async function deliver(world: World, item: ToDeliver): Promise<Delivery> {
  const { as, unsigned = false, notBefore = 0, ...rest } = item;
  const delivery: Delivery = {
    id: newId('L'),
    at: Math.max(world.time.wall(), notBefore),
    attempt: 1,
    ...rest,
    status: 0,
    body: '',
    ackMs: 0,
    outcome: 'pending',
  };
  remember(world.deliveries, delivery, world.longestLog);
  const announce = (): void => world.changes.emit({ type: 'delivery', team: item.team, id: delivery.id });
  announce();
  const started = performance.now();
  const answer =
    world.app.socketMode && !unsigned
      ? await sendOverSocket(world, delivery)
      : await send(
          world,
          encode(as, item.payload),
          retryHeaders(delivery),
          unsigned ? undefined : delivery.at,
        );
  Object.assign(delivery, answer, { ackMs: Math.round(performance.now() - started) });
  announce();
  return delivery;
}

interface Encoded {
  body: string;
  type: string;
}

function encode(as: ToDeliver['as'], payload: Json): Encoded {
  if (as === 'json') return { body: JSON.stringify(payload), type: 'application/json' };
  const fields =
    as === 'payload' ? { payload: JSON.stringify(payload) } : (payload as Record<string, string>);
  return { body: new URLSearchParams(fields).toString(), type: 'application/x-www-form-urlencoded' };
}

function retryHeaders({ attempt, retryReason }: Delivery): Record<string, string> {
  if (attempt === 1) return {};
  return { 'x-slack-retry-num': String(attempt - 1), 'x-slack-retry-reason': retryReason ?? 'unknown_error' };
}

type Answer = Pick<Delivery, 'status' | 'body' | 'outcome' | 'noRetry'>;

async function send(
  world: World,
  { body, type }: Encoded,
  extra: Record<string, string>,
  signedAt: number | undefined,
): Promise<Answer> {
  if (!world.requestUrl) return { status: 0, body: '', outcome: 'dispatch_failed' };
  const start = world.requestUrl.startsWith('https:') ? httpsRequest : httpRequest;
  const sent = start(world.requestUrl, {
    method: 'POST',
    // A new connection each time: an app that was killed and restarted is reached at once.
    agent: false,
    headers: {
      'content-type': type,
      accept: 'application/json,*/*',
      'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
      ...(signedAt === undefined ? {} : signatureHeaders(world.app.signingSecret, body, signedAt)),
      ...extra,
    },
    signal: world.stopping.signal,
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    sent.destroy();
  }, world.ackTimeoutMs);
  try {
    const response = await answerOf(sent.end(body));
    const status = response.statusCode ?? 0;
    return {
      status,
      body: (await text(response)).slice(0, MAX_BODY),
      outcome: judge(status),
      noRetry: response.headers['x-slack-no-retry'] === '1',
    };
  } catch {
    // Refused, reset or too late: all the person learns is which of the two it was.
    return { status: 0, body: '', outcome: isLate ? 'operation_timeout' : 'dispatch_failed' };
  } finally {
    clearTimeout(timer);
  }
}

function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void sent.once('response', resolve).on('error', reject));
}

function judge(status: number): DeliveryOutcome {
  if (status >= 200 && status < 300) return 'ok';
  return status >= 500 ? 'http_service_error' : 'http_client_error';
}
