import type { World } from '../world.ts';
import type { Channel } from './people.ts';
import type { Policy, Workspace } from './types.ts';

/** Where something is about to happen. */
interface Where {
  channel?: Channel;
  thread?: string | undefined;
}

/** Forbids something; the answer allows it again. */
export function addPolicy(world: World, workspace: Workspace, policy: Policy): () => void {
  const own = { ...policy };
  workspace.policies.add(own);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  return () => {
    workspace.policies.delete(own);
    world.changes.emit({ type: 'workspace', team: workspace.id });
  };
}

/** What the oldest policy that fits says of `kind`; undefined where it is allowed. */
export function policyOf<Kind extends keyof Policy>(
  workspace: Workspace,
  kind: Kind,
  where: Where = {},
): Policy[Kind] | undefined {
  return [...workspace.policies].find((policy) => policy[kind] !== undefined && fits(policy, where))?.[kind];
}

function fits(policy: Policy, { channel, thread }: Where): boolean {
  const isHere = policy.channel === undefined || [channel?.id, channel?.name].includes(policy.channel);
  return isHere && (policy.thread === undefined || policy.thread === thread);
}
