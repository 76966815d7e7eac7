import type { KnownBlock } from '../../core/message.ts';
import { searchInput } from '../blocks/inputs.ts';

/** Asks for a project of the account. `typed`: what was asked for but could not be looked up yet. */
export function projectInput(account: string, typed: string | undefined): KnownBlock {
  return searchInput({
    field: 'project',
    label: 'Project',
    placeholder: `Search the projects of ${account}`,
    initial: typed === undefined ? undefined : { value: typed, text: typed },
  });
}
