import { sanitize } from '../../core/mrkdwn.ts';

/** The page at the public address. `installPath` is set if workspaces install by OAuth. */
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
          'Says what to do next when something fails.',
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

/** Number of days until stored data is deleted. */
export interface Retention {
  audit: number;
  /** Maximum number of rows for a workspace. */
  auditRows: number;
  runs: number;
  /** Days after the end of an episode. An episode also ends after as many days without news. */
  episodes: number;
  ledger: number;
  recoveries: number;
  /** Days after the end of a quiet. */
  quiets: number;
  orders: number;
  clicks: number;
  servers: number;
  deliveries: number;
}

/** Short form of docs/security.md, which has the whole table. */
export function privacyPage(days: Retention): Page {
  return {
    title: 'Privacy',
    text: 'What Deckhand stores about you and your workspace, and for how long.',
    sections: [
      {
        title: 'Stored until the app is uninstalled, or earlier where you remove it',
        items: [
          'The workspace’s installation: its name, who installed Deckhand, and its tokens, which are encrypted.',
          'Each connected account of the deployment service: its name, e-mail address and API key. The key is encrypted. Disconnecting the account deletes it.',
          'Your link to your own user at the service, if you made one: your name and e-mail address there, and no token. Unlinking deletes them.',
          'The name at the service that you claimed, until you give it up.',
          'Ids of channels, people and groups with their roles and settings.',
          'The schedules that you set up, with their projects and servers and with what they last told of: names, revisions, results. Integrations that you set up: their name, type and identifier. Names of servers that were created or shown here.',
        ],
      },
      {
        title: 'Stored for a limited time',
        items: [
          `Who did what in Deckhand, and with what result: ${days.audit} days, the newest ${days.auditRows.toLocaleString('en')} entries at most.`,
          `Test runs, with their projects, servers and results: ${days.runs} days.`,
          `What fails in a project that a channel follows, with revisions, servers, who deployed, the step that failed with one line of its log, and who is on it: until ${days.episodes} days after it ended. Without news it ends by itself after ${days.episodes} days.`,
          `Until when a channel is quiet, and who made it so: ${days.quiets} days after its end.`,
          `The events of each connected account’s feed, with projects, revisions, servers and people: ${days.ledger} days, or until the account is disconnected.`,
          `When a project that a channel follows failed and recovered, without people and revisions: ${days.recoveries} days.`,
          `Who ordered which server: ${days.orders} days. New servers whose set-up is shown: ${days.servers} days.`,
          `Which buttons were used, and which kinds of message your Slack does not take: ${days.clicks} days.`,
          `Which digests and notices were delivered: ${days.deliveries} days.`,
          'Everything else, such as a form that was sent or a command that waits for an account: 24 hours at most.',
        ],
      },
      {
        title: 'Not stored',
        items: [
          'Messages in your channels: Deckhand has no permission to read them.',
          'Passwords, and keys outside the encrypted store.',
          'Any other answer of the deployment service.',
        ],
      },
      {
        title: 'Who gets it',
        items: [
          'Data goes to Slack and to your deployment service alone. There is no tracking and no advertising.',
          'Whoever runs this Deckhand keeps the database, its backups, and logs with ids of workspaces, people and channels.',
        ],
      },
    ],
    next: 'Uninstalling the app deletes all data of the workspace at once. Only a marker with its id stays.',
    links: [{ label: 'About Deckhand', url: '/' }],
  };
}

/** A page in the browser that reports a result. All fields are plain text, which `renderPage` escapes. */
export interface Page {
  title: string;
  text: string;
  sections?: ReadonlyArray<{ title: string; items: readonly string[] }>;
  next: string;
  /** Links to Deckhand's own pages, to Slack, and to configured addresses. */
  links?: ReadonlyArray<{ label: string; url: string }>;
  /** A button that posts the fields. */
  form?: { label: string; action: string; fields: Readonly<Record<string, string>> } | undefined;
}

/** The only style sheet. The content security policy allows it by its digest. */
export const PAGE_STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem;color:#1d1c1d;background:#fff}' +
  'h1{font-size:1.5rem}h2{font-size:1.1rem}a,button{display:inline-block;margin:0 .75rem .75rem 0;padding:.5rem 1rem;border-radius:.4rem;' +
  'font-weight:600;text-decoration:none;color:#fff;background:#1d3557}button{font:inherit;font-weight:600;border:0;cursor:pointer}a:focus-visible,button:focus-visible{outline:3px solid #e9a23b}@media(prefers-color-scheme:dark){body{color:#e8e8e8;background:#1a1d21}a,button{color:#10151c;background:#9cc2f0}}';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A small page without scripts and without external files. */
export function renderPage({ title, text, sections = [], next, links = [], form }: Page): string {
  const body = sections.map(({ title, items }) => {
    const lines = items.map((item) => `<li>${html(item)}</li>`);
    return `<h2>${html(title)}</h2><ul>${lines.join('')}</ul>`;
  });
  const buttons = links.map(({ label, url }) => `<a href="${html(url)}">${html(label)}</a>`).join('');
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(title)}</title><style>${PAGE_STYLE}</style></head>
<body><main><h1>${html(title)}</h1><p>${html(text)}</p>${body.join('')}${buttons === '' ? '' : `<p>${buttons}</p>`}${drawHtmlForm(form)}<p>${html(next)}</p></main></body>
</html>
`;
}

function drawHtmlForm(form: Page['form']): string {
  if (form === undefined) return '';
  const fields = Object.entries(form.fields).map(
    ([name, value]) => `<input type="hidden" name="${html(name)}" value="${html(value)}">`,
  );
  return `<form method="post" action="${html(form.action)}">${fields.join('')}<button>${html(form.label)}</button></form>`;
}

/** Link from the browser back into Slack. Organisations have no Slack address of their own. */
function slackLink(workspace?: string): { label: string; url: string } {
  const isTeam = workspace !== undefined && /^T[A-Z0-9]+$/.test(workspace);
  return { label: 'Open Slack', url: isTeam ? `slack://open?team=${workspace}` : 'slack://open' };
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

/** Failures of an install or a link in the browser. `%` is "install" or "link", `&` the site that completes it. */
const ENDS = {
  unknown: [400, 'Unknown %', 'This % was not started here, or too long ago.'],
  expired: [410, 'This took too long', 'The % must be completed within ten minutes.'],
  used: [
    410,
    'This link was already used',
    'It works once. If Deckhand wrote to you in Slack, the % is complete.',
  ],
  'other browser': [403, 'This is another browser', 'The % must end in the browser where it was started.'],
  denied: [403, 'The % was cancelled', 'You did not allow it.'],
  refused: [502, '& refused', '& did not complete the %.'],
  unexpected: [502, '& answered unexpectedly', 'The % could not be completed.'],
  unreachable: [502, '& cannot be reached', 'The % could not be completed.'],
  taken: [
    409,
    'Somebody else is linked to this user',
    'Another person of your Slack workspace is linked to that user at the deployment service, and a user there can be linked to one person only.',
  ],
} as const;
export type LinkEnd = keyof typeof ENDS;
export type BrowserEnd = Exclude<LinkEnd, 'taken'>;

function endPage(end: LinkEnd, flow: 'install' | 'link') {
  const [status, title, text] = ENDS[end];
  const [site, undone] = flow === 'install' ? ['Slack', 'installed'] : ['The service', 'linked'];
  const fill = (words: string): string => words.replaceAll('%', flow).replaceAll('&', site);
  const outcome = end === 'used' ? '' : ` Nothing was ${undone}.`;
  return { status, title: fill(title), text: `${fill(text)}${outcome}` };
}

/** The page that leads to Slack. With `groupsUrl`, Slack also asks for user groups. */
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
  const next = 'Open the install page again to start over.';
  return { ...endPage(end, 'install'), next, links: [START_OVER] };
}

export function linkFailedPage(end: LinkEnd, word: string): Page & { status: number } {
  const next = `Return to Slack and run ${word} link to try again.`;
  return { ...endPage(end, 'link'), next, links: [slackLink()] };
}

/** Asks for a confirmation. A person who was sent somebody else's link can read whose it is. */
export function linkQuestionPage(
  linkRequest: { name: string; email: string | undefined; lacksScope?: boolean; workspace: string },
  form: { action: string; fields: Readonly<Record<string, string>> },
  word: string,
): Page {
  const why = linkRequest.lacksScope
    ? 'the e-mail address is missing, because Slack has not given Deckhand the scope users:read.email'
    : 'Slack shows no e-mail address of this user';
  const email = ` (${linkRequest.email === undefined ? why : sanitize(linkRequest.email, 200)})`;
  return {
    title: 'Link your user?',
    text: `The Slack user “${sanitize(linkRequest.name, 80)}”${email} of the workspace “${sanitize(linkRequest.workspace, 80)}” asked to be linked to a user at the deployment service. If you continue, the service asks you to sign in, and Deckhand then knows that Slack user by your name and address there. A link lends no API key and gives no permission.`,
    next: `Continue only if that Slack user is you and you ran ${word} link just now. If not, close this page, and nothing is linked.`,
    form: { label: 'Continue to the service', ...form },
  };
}

/** Names the person in Slack, so that a reader of somebody else's link notices. */
export function linkedPage(workspace: string, name: string, word: string): Page {
  return {
    title: 'You are linked',
    text: `The Slack user “${sanitize(name, 80)}” is linked to your user at the deployment service.`,
    next: `Close this page and return to Slack. ${word} whoami shows the link. If that Slack user is not you, remove Deckhand from your list of authorised applications at the service now.`,
    links: [slackLink(workspace)],
  };
}
