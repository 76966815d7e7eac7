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
const LONGEST_LOG = 20_000;

export function logCall(world: World, call: Omit<ApiCall, 'id'>): void {
  const logged = { ...call, id: newId('L'), args: withoutSecrets(call.args) };
  world.calls.push(logged);
  if (world.calls.length > LONGEST_LOG) world.calls.splice(0, LONGEST_LOG / 10);
  world.changes.emit({ type: 'call', team: call.team ?? '', id: logged.id });
}

function withoutSecrets(args: Json): Json {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !SECRETS.has(name)));
}
