import type { Page } from '../blocks/page.ts';

/** What a stranger sees who opens the public address. `installPath` is set where workspaces install by OAuth. */
export function frontPage(word: string, installPath: string | undefined): Page {
  const install = installPath === undefined ? [] : [{ label: 'Add to Slack', url: installPath }];
  return {
    title: 'Deckhand',
    text: 'Deckhand brings your hosted deployment service into your Slack channels.',
    sections: [
      {
        title: 'What it does',
        items: [
          'Tests whether repositories and servers can be reached, and shows the run live in a thread.',
          'Adds servers and integrations through forms.',
          'Shows the activity of your projects, and posts digests, watches and invoice notices on a schedule.',
          'Answers every failure with what to do next.',
        ],
      },
    ],
    next:
      installPath === undefined
        ? `It is installed in one workspace: type ${word} there to begin.`
        : `Slack shows you the permissions before anything is installed. Then type ${word} to begin.`,
    links: [...install, { label: 'Privacy', url: '/privacy' }],
  };
}

/** The short form of docs/security.md, which has the whole table. */
export function privacyPage(): Page {
  return {
    title: 'Privacy',
    text: 'What Deckhand stores about you and your workspace, and for how long.',
    sections: [
      {
        title: 'Stored until the app is uninstalled, or earlier where you remove it',
        items: [
          'The workspace’s installation: its name, who installed Deckhand, and its tokens, which are encrypted.',
          'Each connected account of the deployment service: its name, e-mail address and API key. The key is encrypted; disconnecting the account deletes it.',
          'Your link to your own user at the service, if you made one. Its tokens are encrypted; unlinking deletes them.',
          'Ids of channels, people and groups with their roles and settings, and the schedules that you set up.',
        ],
      },
      {
        title: 'Stored for a limited time',
        items: [
          'Who did what in Deckhand, and with what result: 400 days.',
          'The latest test runs, and which buttons were used: 30 days.',
          'Which digests and notices were delivered: 7 days.',
          'Everything else, such as a command that waits for an account: 24 hours at most.',
        ],
      },
      {
        title: 'Not stored',
        items: [
          'Messages in your channels: Deckhand has no permission to read them.',
          'Passwords, and keys outside the encrypted store.',
          'What the deployment service answers, beyond the names that are needed to show it.',
        ],
      },
      {
        title: 'Who gets it',
        items: [
          'Data goes to Slack and to your deployment service alone. There is no tracking and no advertising.',
          'The operator of this Deckhand keeps the database, its backups, and logs with ids of workspaces, people and channels.',
        ],
      },
    ],
    next: 'Uninstalling the app deletes everything of the workspace from the database at once.',
    links: [{ label: 'About Deckhand', url: '/' }],
  };
}
