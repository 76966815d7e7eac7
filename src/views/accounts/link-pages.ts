import { plain } from '../../core/mrkdwn.ts';
import type { Page } from '../blocks/page.ts';

/** How linking can end in the browser. */
export type LinkEnd =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'other browser'
  | 'denied'
  | 'refused'
  | 'unexpected'
  | 'unreachable';

const PAGES: Record<LinkEnd, { status: number; title: string; text: string }> = {
  unknown: {
    status: 400,
    title: 'This is not a request of ours',
    text: 'Nobody asked for this link here, or it is too long ago. Nothing was linked.',
  },
  expired: {
    status: 410,
    title: 'This took too long',
    text: 'A link is good for ten minutes. Nothing was linked.',
  },
  used: {
    status: 410,
    title: 'This was used already',
    text: 'A link counts once. If Deckhand told you in Slack that you are linked, all is well.',
  },
  'other browser': {
    status: 403,
    title: 'Another browser began this',
    text: 'A link must end in the browser that opened it. Nothing was linked.',
  },
  denied: {
    status: 403,
    title: 'You said no',
    text: 'The service was not allowed to link you, so nothing was linked.',
  },
  refused: {
    status: 502,
    title: 'The service refused',
    text: 'The service did not complete the link. Nothing was linked.',
  },
  unexpected: {
    status: 502,
    title: 'The service answered unexpectedly',
    text: 'The link could not be completed. Nothing was linked.',
  },
  unreachable: {
    status: 502,
    title: 'The service cannot be reached',
    text: 'The link could not be completed. Nothing was linked.',
  },
};

export function linkFailedPage(end: LinkEnd, word: string): Page & { status: number } {
  return { ...PAGES[end], next: `Return to Slack and run ${word} link to try again.` };
}

/** Names the person in Slack, so that whoever was sent another's link sees what they did. */
export function linkedPage(name: string, word: string): Page {
  return {
    title: 'You are linked',
    text: `The Slack user “${plain(name, 80)}” is linked to your user at the deployment service.`,
    next: `Close this page and return to Slack; ${word} whoami shows the link. If that Slack user is not you, remove Deckhand from your list of authorised applications at the service now.`,
  };
}
