import { sanitize } from '../../core/mrkdwn.ts';
import { type Page, slackLink } from '../blocks/page.ts';

/** How installing or linking can end in the browser without success. */
export type BrowserEnd =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'other browser'
  | 'denied'
  | 'refused'
  | 'unexpected'
  | 'unreachable';

type EndPage = [status: number, title: string, text: string];

const NOT_INSTALLED = 'Nothing was installed.';
const INSTALL_ENDS: Record<BrowserEnd, EndPage> = {
  unknown: [400, 'Unknown install', `This install was not started here, or too long ago. ${NOT_INSTALLED}`],
  expired: [410, 'This took too long', `An install must be completed within ten minutes. ${NOT_INSTALLED}`],
  used: [
    410,
    'This link was already used',
    'An install link works once. If Deckhand wrote to you in Slack, it is installed.',
  ],
  'other browser': [
    403,
    'This is another browser',
    `An install must end in the browser where it was started. ${NOT_INSTALLED}`,
  ],
  denied: [403, 'The install was cancelled', 'You cancelled it in Slack, so nothing was installed.'],
  refused: [502, 'Slack refused', `Slack did not complete the install. ${NOT_INSTALLED}`],
  unexpected: [502, 'Slack answered unexpectedly', `The install could not be completed. ${NOT_INSTALLED}`],
  unreachable: [502, 'Slack cannot be reached', `The install could not be completed. ${NOT_INSTALLED}`],
};

const NOT_LINKED = 'Nothing was linked.';
/** `taken`: another person of the workspace is linked to that user of the service. */
export type LinkEnd = BrowserEnd | 'taken';

const LINK_ENDS: Record<LinkEnd, EndPage> = {
  taken: [
    409,
    'Somebody else is linked to this user',
    `Another person of your Slack workspace is linked to that user at the deployment service, and a user there can be linked to one person only. ${NOT_LINKED}`,
  ],
  unknown: [400, 'Unknown link', `This link was not requested here, or too long ago. ${NOT_LINKED}`],
  expired: [410, 'This took too long', `A link is valid for ten minutes. ${NOT_LINKED}`],
  used: [
    410,
    'This link was already used',
    'A link works once. If Deckhand wrote to you in Slack, you are linked.',
  ],
  'other browser': [
    403,
    'This is another browser',
    `A link must end in the browser where it was opened. ${NOT_LINKED}`,
  ],
  denied: [403, 'The link was cancelled', 'You did not allow it at the service, so nothing was linked.'],
  refused: [502, 'The service refused', `The service did not complete the link. ${NOT_LINKED}`],
  unexpected: [502, 'The service answered unexpectedly', `The link could not be completed. ${NOT_LINKED}`],
  unreachable: [502, 'The service cannot be reached', `The link could not be completed. ${NOT_LINKED}`],
};

/** The page that leads to Slack; with `groupsUrl`, Slack is also asked for user groups. */
export function installPage(url: string, groupsUrl: string): Page {
  return {
    title: 'Add Deckhand to Slack',
    text: 'Deckhand brings your deployment service into your channels: tests of repositories and servers, forms, activity, digests and invoices. Slack shows you the permissions before anything is installed.',
    next: 'Add user groups too if they should hold roles, such as admin or billing. You can also add them later.',
    links: [
      { label: 'Add to Slack', url },
      { label: 'Add with user groups', url: groupsUrl },
    ],
  };
}

export function installedPage(workspace: string, name: string | undefined, word: string): Page {
  return {
    title: 'Deckhand is installed',
    text: name === undefined ? 'It is ready.' : `It is ready in “${sanitize(name, 80)}”.`,
    next: `Close this page and return to Slack: Deckhand wrote to you there. ${word} shows what to do next.`,
    links: [slackLink(workspace)],
  };
}

const START_OVER = { label: 'Start over', url: '/slack/install' };

export function installFailedPage(end: BrowserEnd): Page & { status: number } {
  const [status, title, text] = INSTALL_ENDS[end];
  return { status, title, text, next: 'Open the install page again to start over.', links: [START_OVER] };
}

export function linkFailedPage(end: LinkEnd, word: string): Page & { status: number } {
  const [status, title, text] = LINK_ENDS[end];
  const next = `Return to Slack and run ${word} link to try again.`;
  return { status, title, text, next, links: [slackLink()] };
}

/** Asks before anything begins: a person who was sent another's link reads whose it is. */
export function linkQuestionPage(
  asked: { name: string; email: string | undefined; workspace: string },
  form: { action: string; fields: Readonly<Record<string, string>> },
  word: string,
): Page {
  const email = asked.email === undefined ? '' : ` (${sanitize(asked.email, 200)})`;
  return {
    title: 'Link your user?',
    text: `The Slack user “${sanitize(asked.name, 80)}”${email} of the workspace “${sanitize(asked.workspace, 80)}” asked to be linked to a user at the deployment service. If you continue, the service asks you to sign in, and Deckhand then knows that Slack user by your name and address there. A link lends no API key and gives no permission.`,
    next: `Continue only if that Slack user is you and you ran ${word} link just now. If not, close this page; nothing is linked.`,
    form: { label: 'Continue to the service', ...form },
  };
}

/** Names the person in Slack, so that someone who was sent another person's link notices. */
export function linkedPage(workspace: string, name: string, word: string): Page {
  return {
    title: 'You are linked',
    text: `The Slack user “${sanitize(name, 80)}” is linked to your user at the deployment service.`,
    next: `Close this page and return to Slack; ${word} whoami shows the link. If that Slack user is not you, remove Deckhand from your list of authorised applications at the service now.`,
    links: [slackLink(workspace)],
  };
}
