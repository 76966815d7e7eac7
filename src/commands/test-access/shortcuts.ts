import type { Reply } from '../../core/reply.ts';
import type { Account } from '../../records/accounts.ts';
import { readAddress } from '../../service/addresses.ts';
import type { Project } from '../../service/projects.ts';
import { chooseProjectMessage } from '../../views/projects/projects.ts';
import type { Shortcut, ShortcutContext } from '../command.ts';
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

/**
 * The projects that a text speaks of, by permalink, identifier or name, each as whole words in any letter case. A
 * longer name hides those within it, so `storefront-api` does not speak of `storefront`. Pure.
 */
export function mentionedProjects(text: string, projects: readonly Project[]): Project[] {
  const names = projects
    .flatMap((project) =>
      [...new Set([project.permalink, project.identifier, project.name])].map((name) => ({
        name: name.toLowerCase(),
        project,
      })),
    )
    .filter(({ name }) => name.length > 1)
    .toSorted((one, other) => other.name.length - one.name.length);
  const found = new Set<Project>();
  let left = text.toLowerCase();
  for (const { name } of names) {
    const rest = without(left, name);
    if (rest === left) continue;
    // Several projects may have one name; each is meant.
    for (const other of names) if (other.name === name) found.add(other.project);
    left = rest;
  }
  return projects.filter((project) => found.has(project));
}

const WORD = /[\p{L}\p{N}_-]/u;

/** The text with each whole-word occurrence blanked out. */
function without(text: string, name: string): string {
  let rest = text;
  for (let at = rest.indexOf(name); at !== -1; at = rest.indexOf(name, at + 1)) {
    const before = rest.slice(0, at);
    const after = rest.slice(at + name.length);
    if (WORD.test(before.slice(-1)) || WORD.test(after.slice(0, 1))) continue;
    rest = `${before}${'\n'.repeat(name.length)}${after}`;
  }
  return rest;
}
