import { plain } from '../../core/mrkdwn.ts';
import type { Page } from '../blocks/page.ts';

/** How an install can end without one. */
export type InstallEnd =
  | 'unknown'
  | 'expired'
  | 'used'
  | 'other browser'
  | 'denied'
  | 'refused'
  | 'unexpected'
  | 'unreachable';

const PAGES: Record<InstallEnd, { status: number; title: string; text: string }> = {
  unknown: {
    status: 400,
    title: 'This is not a request of ours',
    text: 'Nobody began this install here, or it is too long ago. Nothing was installed.',
  },
  expired: {
    status: 410,
    title: 'This took too long',
    text: 'An install must be completed within ten minutes. Nothing was installed.',
  },
  used: {
    status: 410,
    title: 'This was used already',
    text: 'An install counts once. If Deckhand wrote to you in Slack, all is well.',
  },
  'other browser': {
    status: 403,
    title: 'Another browser began this',
    text: 'An install must end in the browser that began it. Nothing was installed.',
  },
  denied: {
    status: 403,
    title: 'The install was cancelled',
    text: 'Slack was told not to allow it, so nothing was installed.',
  },
  refused: {
    status: 502,
    title: 'Slack refused',
    text: 'Slack did not complete the install. Nothing was installed.',
  },
  unexpected: {
    status: 502,
    title: 'Slack answered unexpectedly',
    text: 'The install could not be completed. Nothing was installed.',
  },
  unreachable: {
    status: 502,
    title: 'Slack cannot be reached',
    text: 'The install could not be completed. Nothing was installed.',
  },
};

/** The way to Slack; with `groupsUrl` one that also asks to read user groups. */
export function installPage(url: string, groupsUrl: string): Page {
  return {
    title: 'Add Deckhand to Slack',
    text: 'Deckhand brings your deployment service into your channels: tests of repositories and servers, forms, activity, digests and invoices. Slack shows you what it asks for before anything is installed.',
    next: 'Ask for user groups too if they are to hold roles, such as admin or billing; it can be added later.',
    links: [
      { label: 'Add to Slack', url },
      { label: 'Add with user groups', url: groupsUrl },
    ],
  };
}

export function installedPage(name: string | undefined, word: string): Page {
  return {
    title: 'Deckhand is installed',
    text: name === undefined ? 'It is ready.' : `It is ready in “${plain(name, 80)}”.`,
    next: `Close this page and return to Slack: Deckhand wrote to you there. ${word} shows what to do next.`,
  };
}

export function installFailedPage(end: InstallEnd): Page & { status: number } {
  return { ...PAGES[end], next: 'Open the install page again to start over.' };
}
