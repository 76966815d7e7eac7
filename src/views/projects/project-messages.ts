import type { Button } from '@slack/types';
import { z } from 'zod';
import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, count, dateTime, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import { toProjectRef } from '../../core/project-ref.ts';
import type { Pages } from '../../core/service-pages.ts';
import type { Target } from '../../records/test-runs.ts';
import type { Project } from '../../service/projects.ts';
import { menu, searchInput } from '../blocks/inputs.ts';
import { button, buttons, context, header, LIMITS, linkButton, say, section } from '../blocks/make-blocks.ts';
import { projectLink } from '../blocks/page-links.ts';

/** A message holds 50 blocks. */
export const PROJECTS_ON_PAGE = 20;

/** One page of projects, in the form that its buttons carry. */
export const ProjectsPage = z.object({
  account: z.string(),
  filter: z.string().max(200).optional(),
  /** From 0. */
  page: z.int().min(0).max(10_000),
});
export interface ProjectsPage extends z.infer<typeof ProjectsPage> {}

/** The account's projects, starred ones first. */
export function projectsMessage(
  projects: readonly Project[],
  at: ProjectsPage,
  word: string,
  pages?: Pages,
): Message {
  const { account, filter, page } = at;
  const what = filter === undefined ? 'in' : `matching “${mrkdwn(filter, 60)}” in`;
  const next = filter === undefined ? '' : ` ${code(`${word} projects`)} lists them all.`;
  const title = `${count(projects.length, 'project')} ${what} ${code(account)}`;
  if (projects.length === 0) return say(`No projects ${what} ${code(account)}.${next}`);
  const first = page * PROJECTS_ON_PAGE;
  const visible = projects.slice(first, first + PROJECTS_ON_PAGE);
  const turn = (label: string, to: number): Button =>
    button(label, `projects:page#${to}`, { value: { ...at, page: to } });
  const which = projects.length > PROJECTS_ON_PAGE ? `${first + 1} to ${first + visible.length} of ` : '';
  return {
    text: title,
    blocks: [
      header(`Projects of ${sanitize(account, 60)}`),
      ...visible.map((project, at) => projectRow(account, project, at, pages)),
      ...buttons(
        page > 0 && turn('Previous', page - 1),
        first + PROJECTS_ON_PAGE < projects.length && turn('Next', page + 1),
      ),
      context(
        `${which}${count(projects.length, 'project')}. Narrow the list with a word after ${code('projects')}.`,
      ),
    ],
  };
}

/** Omits a button with more data than Slack carries. */
function projectRow(account: string, project: Project, at: number, pages: Pages | undefined): KnownBlock {
  const test = testButton({ account, project: toProjectRef(project) }, at);
  const fits = (test.value ?? '').length <= LIMITS.buttonValue;
  return section(projectLine(project, account, pages), fits && test);
}

function projectLine(project: Project, account: string, pages: Pages | undefined): string {
  const star = project.starred ? ':star: ' : '';
  return `${star}${projectLink(pages, account, project)}  ${code(project.permalink)}${deployedWords(project)}`;
}

/** Empty if the service gives no time. */
function deployedWords({ last_deployed_at: at }: Project): string {
  if (at === undefined) return '';
  return at === null ? '  never deployed' : `  deployed ${dateTime(at)}`;
}

/**
 * Asks for a project. The choice runs `text` again. A long list becomes a menu with search.
 * @param thread thread of a mention
 */
export function chooseProjectMessage(
  projects: readonly Project[],
  text: string,
  thread?: string,
  question = 'Which project do you mean?',
): Message {
  const choices = projects
    .filter((project) => project.permalink.length <= LIMITS.optionValue)
    .map((project) => ({ value: project.permalink, text: project.name }));
  const choice = menu({
    actionId: 'projects:choose',
    placeholder: 'Choose a project',
    target: { command: text, thread },
    choices: choices.length > LIMITS.options ? undefined : choices,
  });
  const isAsked = choices.length > 0 && choice.length > 0;
  return isAsked ? say(question, ...choice) : say(`${question} Add its name to the command.`);
}

/** The project of a form, or a field for it. `text`: a project that has not been looked up yet. */
export function projectBlock(
  { account, project }: { account: string; project?: { name: string } | undefined },
  text: string | undefined,
): KnownBlock {
  if (project !== undefined) return context(`Project: ${bold(project.name)} in ${code(account)}`);
  return searchInput('project', 'Project', {
    placeholder: `Search the projects of ${account}`,
    initial: text === undefined ? undefined : { value: text, text },
  });
}

/** Starts a test of the project or server. @param at distinguishes the buttons of one message */
export function testButton(target: Target, at?: number): Button {
  const actionId = at === undefined ? 'test:project' : `test:project#${at}`;
  return button('Test access', actionId, { value: { target } });
}

export interface DeployView {
  word: string;
  /** Left out if no account is connected. */
  account?: string;
  /** The page of the project, else of the account. */
  url?: string;
  project?: { name: string } | undefined;
}

/** Tells where people deploy, because Deckhand does not. */
export function deployMessage({ word, account, url, project }: DeployView): Message {
  const what = project === undefined ? '' : ` ${bold(project.name)}`;
  const where = account === undefined ? '' : `, in the account ${code(account)}`;
  const text = `Deckhand does not deploy or roll back. Deploy${what} on the service’s own pages${where}.`;
  const instead = `${code(`${word} watch`)} posts deployments here as they happen, ${code(`${word} activity`)} shows the latest.`;
  return say(
    text,
    ...buttons(linkButton(`Open ${project?.name ?? account}`, 'link:open#deploy', url)),
    context(instead),
  );
}
