import { newId } from '../state/ids.ts';
import type { Json } from '../state/types.ts';
import type { World } from '../world.ts';

/** One Web API call as it came in, without any secret. */
export interface ApiCall {
  id: string;
  /** Milliseconds since the epoch, by the wall clock. */
  at: number;
  method: string;
  team: string | undefined;
  args: Json;
  /** HTTP status; 0 where the connection was dropped. */
  status: number;
  ok: boolean;
  error?: string;
  ms: number;
}

const SECRETS = new Set([
  'token',
  'client_secret',
  'code',
  'code_verifier',
  'refresh_token',
  'client_assertion',
]);

export function logCall(world: World, call: Omit<ApiCall, 'id'>): void {
  const logged = { ...call, id: newId('L'), args: withoutSecrets(call.args) };
  remember(world.calls, logged, world.longestLog);
  world.changes.emit({ type: 'call', team: call.team ?? '', id: logged.id });
}

/** Adds to a log and forgets its oldest tenth where it grows too long. */
export function remember<T>(log: T[], entry: T, longest: number): void {
  log.push(entry);
  if (log.length > longest) log.splice(0, Math.ceil(longest / 10));
}

function withoutSecrets(args: Json): Json {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !SECRETS.has(name)));
}
