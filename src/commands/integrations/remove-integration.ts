import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { NameIndex, pickNamed } from '../../core/names.ts';
import { type ProjectRef, projectId } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import { forgetPush } from '../../scheduler/watches/switch-push.ts';
import { deleteIntegration } from '../../service/integrations.ts';
import {
  chooseIntegrationMessage,
  confirmRemovalMessage,
  Removal,
  removedMessage,
} from '../../views/integrations/integration-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { defineButton } from '../action.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';
import { namesProject, resolveAccount, resolveProject } from '../targets/targets.ts';
import { readIntegrations } from './list-integrations.ts';

const DELETE = 'DELETE /projects/{}/integrations/{}';

export const integrationRemove = defineCommand({
  name: 'integration remove',
  phrase: 'sends deployments to your other tools',
  shownAs: 'integration',
  synonyms: ['integration delete'],
  summary: 'Removes an integration of a project',
  usage: '[id] [project]',
  examples: ['integration remove', 'integration remove k3m9x'],
  role: 'operator',
  needsAccount: true,
  rest: true,
  args: z.object({ id: z.string().optional(), project: z.string().optional() }),
  async handle(args, context) {
    const { workspace } = context;
    const { id, project: projectName } = await readWords(args, context);
    const { account, project } = await resolvePlace(context, id, projectName);
    if (!(await workspace.offered.has(account, 'removal'))) throw createNotOffered();
    const { list } = await readIntegrations(workspace, account, project);
    const index = new NameIndex(list.integrations.map((one) => ({ ...one, permalink: one.id })));
    const fitting = id === undefined ? [] : index.find(id);
    const single = id === undefined ? undefined : pickNamed(fitting, id);
    // The service may have integrations that it does not list.
    const isUnlisted = !list.isWhole && id !== undefined && fitting.length === 0;
    const match = isUnlisted ? { identifier: id, name: id } : single;
    if (match?.identifier === undefined) {
      const question = askWhich(id, fitting.length, project);
      return replyPrivately(chooseIntegrationMessage(list, question));
    }
    const { identifier, name } = match;
    const push = await workspace.pushes.get({ account: account.name, project });
    const isPush = push?.state === 'on' && push.integration === identifier;
    return replyPrivately(
      confirmRemovalMessage({ account: account.name, project, identifier, name }, isPush),
    );
  },
  actions: [
    defineButton(Removal, {
      actionId: 'integration:remove',
      durable: true,
      async handle(removal, { invocation, workspace }) {
        const account = await workspace.accounts.resolve(invocation, removal.account);
        const wasThere = await removeIntegration(workspace, account, removal);
        const target = `${account.name}/${removal.project.permalink}/${removal.identifier}`;
        return replyInPlace(removedMessage(removal, wasThere), { what: 'integration remove', target });
      },
    }),
  ],
});

function askWhich(id: string | undefined, fitting: number, { permalink }: ProjectRef): string {
  if (id === undefined) return 'Which integration do you want to remove?';
  if (fitting === 0)
    return `There is no integration ${code(id)} in ${code(permalink)}. Which one do you mean?`;
  return `${fitting === 1 ? 'The identifier is unknown of' : 'Several integrations are named'} ${code(id)}. Which one do you mean?`;
}

interface Words {
  id?: string | undefined;
  project?: string | undefined;
}

/** A single word may also name the project. */
async function readWords(words: Words, context: CommandContext): Promise<Words> {
  const { id, project } = words;
  const isAlone = id !== undefined && project === undefined && context.project === undefined;
  if (!isAlone || (await context.workspace.integrations.find(id)) !== undefined) return words;
  const account = await resolveAccount(context);
  return (await namesProject(context, account, id)) ? { project: id } : words;
}

/** A remembered integration says where it is. */
async function resolvePlace(
  context: CommandContext,
  id: string | undefined,
  projectName: string | undefined,
): Promise<{ account: Account; project: ProjectRef }> {
  const { invocation, workspace } = context;
  const isPlaced = projectName !== undefined || context.project !== undefined;
  const remembered = id === undefined || isPlaced ? undefined : await workspace.integrations.find(id);
  if (remembered === undefined) return resolveProject(context, projectName);
  return {
    account: await workspace.accounts.resolve(invocation, remembered.account),
    project: remembered.project,
  };
}

/** Can be repeated after a kill. @returns false if the integration was not there any more @throws UserError if the service refuses */
async function removeIntegration(
  workspace: Workspace,
  account: Account,
  { project, identifier }: Removal,
): Promise<boolean> {
  const wasThere = await workspace.offered.use(account, DELETE, (client) =>
    deleteIntegration(client, projectId(project), identifier),
  );
  if (wasThere === undefined) throw createNotOffered();
  await forgetPush(workspace, { account: account.name, project }, identifier);
  await workspace.integrations.forget(account.name, identifier);
  return wasThere;
}

function createNotOffered(): UserError {
  return new UserError(
    'The service does not let Deckhand remove integrations. Delete it at the service, among the project’s integrations, or switch its notices off.',
    'integration edit',
  );
}
