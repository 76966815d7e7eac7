import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { buttons, context, linkButton, say } from '../blocks/message.ts';

export interface DeployView {
  word: string;
  /** Undefined where none is connected. */
  account: string | undefined;
  /** Where people open the account. */
  url: string | undefined;
  /** That the channel is bound to. */
  project: { name: string } | undefined;
}

/** Deckhand does not deploy: where that is done, and what Deckhand does about it. */
export function deployMessage({ word, account, url, project }: DeployView): Message {
  const what = project === undefined ? '' : ` ${bold(project.name)}`;
  const where = account === undefined ? '' : `, in the account ${code(account)}`;
  const said = `Deckhand does not deploy or roll back. Deploy${what} on the service’s own pages${where}.`;
  return say(
    said,
    ...buttons(linkButton(`Open ${account}`, 'link:open#deploy', url)),
    context(
      `${code(`${word} watch`)} posts deployments here as they happen, ${code(`${word} activity`)} shows the latest.`,
    ),
  );
}
