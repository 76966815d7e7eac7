import type { EntityActionButton, EntityCustomField, EntityMetadata } from '@slack/types';
import type { KnownBlock } from '../../core/message.ts';
import { bold, capitalised, code, dateTime, sanitize } from '../../core/mrkdwn.ts';
import { projectId, toProjectRef } from '../../core/project-ref.ts';
import type { Run } from '../../records/test-runs.ts';
import { type ActivityEvent, readEventOutcome } from '../../service/activity.ts';
import type { Project } from '../../service/projects.ts';
import type { Server } from '../../service/servers.ts';
import { buttons, context, LIMITS, section } from '../blocks/make-blocks.ts';
import { testButton } from '../projects/project-messages.ts';
import { describeProtocol, factLines, managedFacts } from '../servers/server.ts';
import { endedWords, runWords, timesOfRun } from '../test-access/test-run.ts';

/** The preview under a link to a project. */
export function projectUnfurl({ account, project, latest }: ShownProject): KnownBlock[] {
  const at = project.last_deployed_at;
  const deployed = at === null ? 'Never deployed' : at && `Last deployed ${dateTime(at)}`;
  const tested = latest === undefined ? 'Not tested with Deckhand yet' : `Test access: ${runWords(latest)}`;
  return [
    section([bold(project.name), deployed, tested].filter(Boolean).join('\n')),
    context(`Project ${code(project.permalink)}`, `account ${code(account)}`),
    ...buttons(testButton({ account, project: toProjectRef(project) })),
  ];
}

/** The preview under a link to a server: its status, because that changes. */
export function serverUnfurl(account: string, project: string, server: Server): KnownBlock[] {
  const { identifier, name } = server;
  const target = { account, project: { permalink: project, name: project }, server: { identifier, name } };
  const status = factLines(managedFacts(server).filter(([name]) => name === 'Status'));
  const facts = status === '' ? '' : `\n${status}`;
  return [
    section(`${bold(server.name)}  ${describeProtocol(server.protocol_type)}${facts}`),
    context(`Server ${code(server.identifier)}`, `project ${code(project)}`, `account ${code(account)}`),
    ...buttons(testButton(target)),
  ];
}

/** Slack's entity type for other things than files, tasks and incidents. Deckhand defines all its fields. */
const ENTITY_TYPE = 'slack#/entities/item';
const MAX_DEPLOYMENTS = 5;
/** Maximum number of named servers; a count replaces more. */
const MAX_SERVERS = 3;

/** A project, as people see it in Slack. */
export interface ShownProject {
  account: string;
  url: string;
  project: Pick<Project, 'name' | 'permalink' | 'identifier' | 'last_deployed_at'>;
  latest: Run | undefined;
}

/** The card under a link, visible to the whole channel. It holds the text of the unfurl as fields. */
export function projectCard(project: ShownProject, link: string): EntityMetadata {
  return {
    ...createEntity(project, [...deployed(project.project), ...tested(project.latest)]),
    app_unfurl_url: link,
  };
}

/**
 * Panel beside the conversation, for one person.
 * @param deployments of the project, newest first; undefined if they could not be read
 */
export function projectDetails(
  project: ShownProject,
  deployments: readonly ActivityEvent[] | undefined,
): EntityMetadata {
  return createEntity(project, [
    ...deployed(project.project),
    ...tested(project.latest),
    ...deploymentFields(deployments),
    words('account', 'Account', project.account),
  ]);
}

function createEntity({ account, url, project }: ShownProject, fields: EntityCustomField[]): EntityMetadata {
  const actions = testAction(account, project);
  return {
    entity_type: ENTITY_TYPE,
    url,
    external_ref: { id: `${account}/${projectId(project)}`, type: 'project' },
    entity_payload: {
      attributes: {
        title: { text: sanitize(project.name) },
        display_type: 'Project',
        display_id: sanitize(project.permalink),
      },
      custom_fields: fields,
      display_order: fields.map(({ key }) => key),
      ...(actions.length === 0 ? {} : { actions: { primary_actions: actions } }),
    },
  };
}

function deployed({ last_deployed_at: at }: ShownProject['project']): EntityCustomField[] {
  if (at === undefined) return [];
  if (at === null) return [words('deployed', 'Last deployed', 'Never deployed')];
  return [moment('deployed', 'Last deployed', Date.parse(at))];
}

function tested(run: Run | undefined): EntityCustomField[] {
  const label = 'Test access';
  if (run === undefined) return [words('test', label, 'Not tested with Deckhand yet')];
  const { began, ended } = timesOfRun(run);
  if (run.status === 'running')
    return [words('test', label, 'Running', 'blue'), moment('tested', 'Started', began)];
  const { icon, words: result } = endedWords(run);
  return [words('test', label, result, COLORS[icon] ?? 'yellow'), moment('tested', 'Tested', ended)];
}

const COLORS: Readonly<Record<string, string>> = {
  ':x:': 'red',
  ':grey_question:': 'gray',
  ':white_check_mark:': 'green',
};

function deploymentFields(deployments: readonly ActivityEvent[] | undefined): EntityCustomField[] {
  const label = 'Deployments';
  if (deployments === undefined) return [words('deployments', label, 'Could not be read')];
  const visible = deployments.filter(({ event }) => readEventOutcome(event) !== undefined);
  if (visible.length === 0) return [words('deployments', label, 'None in the last 30 days')];
  return visible.slice(0, MAX_DEPLOYMENTS).flatMap((event, at) => {
    const key = `deployment_${at + 1}`;
    return [
      words(
        key,
        at === 0 ? 'Latest deployment' : 'Deployment before',
        deploymentWords(event),
        chooseColor(event),
      ),
      moment(`${key}_at`, 'When', Date.parse(event.created_at)),
    ];
  });
}

/** "Deploy completed on web-1, web-2 by Ann". */
function deploymentWords({ event, properties, user }: ActivityEvent): string {
  const { servers } = properties;
  const names = servers.length > MAX_SERVERS ? `${servers.length} servers` : servers.join(', ');
  const on = names === '' ? [] : [`on ${names}`];
  const author = user ? [`by ${user}`] : [];
  const what = capitalised(sanitize(event.replaceAll('_', ' '), 40));
  return sanitize([what, ...on, ...author].join(' '), 100);
}

const OUTCOME_COLORS = { succeeded: 'green', failed: 'red', cancelled: 'gray' } as const;

function chooseColor({ event }: ActivityEvent): string | undefined {
  const outcome = readEventOutcome(event);
  return outcome && OUTCOME_COLORS[outcome];
}

function words(key: string, label: string, value: string, color?: string): EntityCustomField {
  const tag = color === undefined ? {} : { tag_color: color };
  return { key, label, type: 'string', value: sanitize(value), ...tag };
}

/** Slack shows it in each person's own zone. @param at milliseconds since the epoch */
function moment(key: string, label: string, at: number): EntityCustomField {
  return { key, label, type: 'slack#/types/timestamp', value: Math.floor(at / 1000) };
}

/** Undefined if its value exceeds Slack's limit. */
function testAction(account: string, project: ShownProject['project']): EntityActionButton[] {
  const { action_id = '', value = '' } = testButton({ account, project: toProjectRef(project) });
  return value.length > LIMITS.buttonValue ? [] : [{ text: 'Test access', action_id, value }];
}
