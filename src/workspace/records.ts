import type { Clock } from '../core/clock.ts';
import type { Service } from '../service/client.ts';
import type { WorkspaceSealer, WorkspaceStore } from '../store/workspace-store.ts';
import type { SealedKeysParts } from './account-keys.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { type Channels, createChannels } from './channels.ts';
import { createRoles, type Roles } from './roles.ts';
import type { SlackPeople } from './slack-people.ts';
import type { UserLinks } from './user-links.ts';

export interface RecordParts {
  sealer: WorkspaceSealer;
  service: Service;
  clock: Clock;
  people: SlackPeople;
  linksIn(store: WorkspaceStore): UserLinks;
  installer(): Promise<string | undefined>;
  onState(): Promise<void>;
  onUnreadable: NonNullable<SealedKeysParts['onUnreadable']>;
}

/** What a request reads again and again. @param store may remember what it has read */
export function recordsIn(
  store: WorkspaceStore,
  { sealer, service, clock, people, linksIn, installer, onState, onUnreadable }: RecordParts,
): { accounts: Accounts; channels: Channels; roles: Roles } {
  const links = linksIn(store);
  const linkedEmail = async (user: string): Promise<string | undefined> => (await links.get(user))?.email;
  return {
    accounts: createAccounts({ store, sealer, service, clock, linkedEmail, onState, onUnreadable }),
    channels: createChannels(store),
    roles: createRoles({ store, clock, people, installer }),
  };
}
