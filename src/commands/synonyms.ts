/** The first word of several commands, typed alone. */
export const ALONE: ReadonlyMap<string, string> = new Map([
  ['digest', 'digest list'],
  ['guard', 'guard list'],
  ['server', 'server show'],
]);

/** Words that people type in place of a command's name, by what they mean. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  accounts: ['account', 'keys'],
  activity: ['deployments', 'deploys', 'feed', 'history', 'log', 'logs', 'status'],
  'activity stats': ['figures', 'statistics', 'stats'],
  'beta enroll': ['beta enrol', 'enrol', 'enroll'],
  build: ['builds'],
  connect: ['login'],
  deploy: ['redeploy', 'rollback'],
  'digest add': ['digest create', 'digest new', 'remind', 'reminder', 'schedule'],
  'digest list': ['digest show', 'digests'],
  'digest preview': ['preview'],
  'digest remove': ['digest delete', 'digest stop'],
  disconnect: ['logout'],
  doctor: ['health', 'ping'],
  'guard add': ['guard create', 'guard new', 'monitor'],
  'guard list': ['guard show', 'guards'],
  'guard remove': ['guard delete', 'guard stop'],
  help: ['commands'],
  hosting: ['resources'],
  'hosting regions': ['regions'],
  'hosting sizes': ['sizes'],
  'integration edit': ['integrations'],
  invoices: ['bill', 'billing', 'bills', 'invoice'],
  projects: ['project'],
  roles: ['permissions'],
  'server add': ['server create', 'server new'],
  'server show': ['server list', 'servers'],
  settings: ['config', 'configure'],
  signup: ['register'],
  test: ['check', 'run'],
  unwatch: ['unsubscribe', 'watch delete', 'watch remove', 'watch stop'],
  use: ['bind'],
  watch: ['subscribe', 'watch add'],
  'watch list': ['subscriptions', 'watches'],
  whoami: ['who'],
};

/** What is meant, by what is typed. */
export const SYNONYMS: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_WORDS).flatMap(([meant, typed]) => typed.map((words) => [words, meant] as const)),
);
