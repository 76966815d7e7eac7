import { newId } from '../state/ids.ts';
import type { Json } from '../state/types.ts';
import type { ApiCall, World } from '../world.ts';

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
