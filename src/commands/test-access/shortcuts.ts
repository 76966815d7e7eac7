import type { Reply } from '../../core/reply.ts';
import { readAddress } from '../../service/addresses.ts';
import type { Project } from '../../service/projects.ts';
import { chooseProjectMessage } from '../../views/projects/projects.ts';
import type { Account } from '../../workspace/accounts.ts';
import type { Shortcut, ShortcutContext } from '../command.ts';
import { mentionedProjects } from '../projects/mentioned-projects.ts';
import { accountOf } from '../resolve-target.ts';
import { openTestForm } from './form.ts';

export const testShortcuts: readonly Shortcut[] = [
  {
    callbackId: 'test_access',
    kind: 'global',
    name: 'Run test access',
    description: 'Tests that a project’s repository and servers can be reached',
    role: 'member',
    run: openTestForm,
  },
  {
    callbackId: 'test_from_message',
    kind: 'message',
    name: 'Run test access',
    description: 'Tests the project that this message names',
    role: 'member',
    durable: true,
    run: testSaid,
  },
];

/** One project is tested, several are offered, and where none is named the form asks. */
async function testSaid(context: ShortcutContext): Promise<Reply> {
  const { account, projects } = await projectsSaid(context);
  const text = `test --account ${account.name}`;
  const [only, ...others] = projects;
  if (only === undefined) return openTestForm({ ...context, account: account.name });
  if (others.length > 0) return { kind: 'private', message: chooseProjectMessage(projects, text) };
  return { kind: 'run', text, project: only.permalink };
}

/** By the links to connected accounts, else by the words, which mean projects of the account that counts here. */
async function projectsSaid(context: ShortcutContext): Promise<{ account: Account; projects: Project[] }> {
  const { caller, workspace, said } = context;
  for (const [address] of said.matchAll(/https?:\/\/[^\s<>|"]+/g)) {
    const link = readAddress(address, workspace.config.SERVICE_BASE_URL);
    const account = link && (await workspace.accounts.get(link.account, caller));
    if (!account) continue;
    const linked = await workspace.projects.look(account);
    return { account, projects: mentionedProjects(said, linked) };
  }
  const account = await accountOf(context);
  const projects = await workspace.projects.look(account);
  return { account, projects: mentionedProjects(said, projects) };
}
