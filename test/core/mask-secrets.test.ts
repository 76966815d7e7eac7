import process from 'node:process';
import { expect, test } from 'vitest';
import { maskLines } from '../../src/core/mask-secrets.ts';

const mask = (text: string): string => maskLines(text.split('\n')).join('\n');

/** A made-up secret. It is joined from parts, so that no scanner of this repository takes it for one that was leaked. */
function made(start: string, alphabet: string, length: number): string {
  const body = Array.from({ length }, (_, at) => alphabet[(at * 7 + 3) % alphabet.length]);
  return start + body.join('');
}
const MIXED = 'a1B2c3D4e5F6g7H8i9J0kLmNpQrStUvWx';
const UPPER = 'A2B3C4D5E6F7GHJKLMNPQRSTUVWXYZ';
const HEX = '0a1b2c3d4e5f6978';
const PLAIN = 'hunter2!x';
const JWT = [made('eyJ', MIXED, 24), made('eyJ', MIXED, 40), made('', MIXED, 30)].join('.');
const PEM_BODY = [1, 2, 3].map((n) => made(`MII${n}`, MIXED, 60)).join('\n');
const pem = (kind: string) => ['BEGIN', 'END'].map((edge) => `-----${edge} ${kind}PRIVATE ${'KEY'}-----`);

/** The line, and the part that nobody may read. */
const SECRETS: ReadonlyArray<[what: string, secret: string, line: (secret: string) => string]> = [
  ['AWS access key', made('AKIA', UPPER, 16), (s) => `Using credentials ${s} of profile deploy`],
  ['AWS session key', made('ASIA', UPPER, 16), (s) => `assumed role, key ${s}.`],
  ['AWS secret key', made('', MIXED, 40), (s) => `AWS_SECRET_ACCESS_KEY=${s}`],
  ['GitHub classic token', made('ghp_', MIXED, 36), (s) => `remote: Invalid token ${s}`],
  [
    'GitHub server token',
    made('ghs_', MIXED, 36),
    (s) => `https://x-access-token:${s}@github.com/acme/shop.git`,
  ],
  ['GitHub fine-grained token', made('github_pat_', MIXED, 60), (s) => `fatal: ${s} has no access`],
  ['GitLab token', made('glpat-', MIXED, 20), (s) => `PRIVATE-TOKEN ${s} refused`],
  ['GitLab runner token', made('glrt-', MIXED, 20), (s) => `registering runner ${s}`],
  ['Slack bot token', made('xoxb-', '1234567890', 24), (s) => `invalid_auth for ${s}`],
  ['Slack app token', made('xapp-1-', UPPER, 30), (s) => `socket opened with ${s}`],
  [
    'Slack webhook',
    made('services/T0', UPPER, 8) + made('/B0', MIXED, 30),
    (s) => `POST https://hooks.slack.com/${s} 404`,
  ],
  ['Stripe key', made('sk_live_', MIXED, 24), (s) => `StripeAuthenticationError: ${s}`],
  ['Stripe restricted key', made('rk_test_', MIXED, 24), (s) => `with ${s}`],
  ['Stripe webhook secret', made('whsec_', MIXED, 32), (s) => `endpoint ${s}`],
  ['npm token', made('npm_', MIXED, 36), (s) => `npm ERR! 401 ${s}`],
  ['npmrc', made('', HEX, 36), (s) => `//registry.npmjs.org/:_authToken=${s}`],
  ['PyPI token', made('pypi-', MIXED, 60), (s) => `twine upload -p ${s}`],
  ['JWT', JWT, (s) => `jwt malformed: ${s}`],
  ['private key', PEM_BODY, (s) => `${pem('RSA ')[0]}\n${s}\n${pem('RSA ')[1]}`],
  ['private key without its beginning', PEM_BODY, (s) => `${s}\n${pem('')[1]}`],
  ['private key without its end', PEM_BODY, (s) => `${pem('OPENSSH ')[0]}\n${s}`],
  ['password in an address', PLAIN, (s) => `psql: connecting to postgres://app:${s}@db.internal:5432/shop`],
  ['password with an at sign', 'hun@ter2', (s) => `redis://default:${s}@cache:6379`],
  ['token in an address', made('', HEX, 40), (s) => `git clone https://${s}@code.example.com/acme/shop.git`],
  ['basic authorization', made('', MIXED, 24), (s) => `> Authorization: Basic ${s}`],
  [
    'bearer authorization',
    made('', MIXED, 30),
    (s) => `curl -H "Authorization: Bearer ${s}" https://api.example.com`,
  ],
  ['bearer elsewhere', made('', MIXED, 30), (s) => `sent bearer ${s} to the API`],
  ['cookie', made('session=', MIXED, 20), (s) => `< Set-Cookie: ${s}; Path=/`],
  ['header with a key', made('', MIXED, 20), (s) => `X-Api-Key: ${s}`],
  ['password=', PLAIN, (s) => `mysqldump failed: password=${s} host=db`],
  ['secret=', PLAIN, (s) => `client_id=12 client_secret=${s}`],
  ['token=', PLAIN, (s) => `GET /deploy?token=${s}&project=shop`],
  ['key=', PLAIN, (s) => `sync --to eu key=${s}`],
  ['environment variable', PLAIN, (s) => `+ export DB_PASS=${s}`],
  ['quoted variable', 'two words 2', (s) => `MYSQL_ROOT_PASSWORD="${s}"`],
  ['JSON', PLAIN, (s) => `{"user":"app","password":"${s}","port":5432}`],
  ['sentence', PLAIN, (s) => `Password: ${s} was refused by the server`],
  ['YAML', PLAIN, (s) => `  apiKey: ${s}`],
  ['camel case', PLAIN, (s) => `config.accessToken = '${s}';`],
  ['Ruby', PLAIN, (s) => `:secret_key_base => "${s}"`],
  [
    'connection string',
    made('', MIXED, 44),
    (s) => `AccountName=shop;AccountKey=${s};EndpointSuffix=core.example`,
  ],
  ['signed address', made('', MIXED, 30), (s) => `https://files.example.com/a.zip?sv=2024&sig=${s}`],
  ['switch', PLAIN, (s) => `docker login --username app --password ${s} registry.example.com`],
  ['curl', PLAIN, (s) => `curl -u deploy:${s} https://files.example.com`],
  ['mysql', PLAIN, (s) => `mysql -h db -u root -p${s} shop < dump.sql`],
  ['netrc', PLAIN, (s) => `machine code.example.com login deploy password ${s}`],
  ['Google API key', made('AIza', MIXED, 35), (s) => `quota exceeded for ${s}`],
  ['SendGrid key', `${made('SG.', MIXED, 22)}.${made('', MIXED, 43)}`, (s) => `mail: ${s} unauthorized`],
  ['Twilio key', made('SK', HEX, 32), (s) => `twilio ${s}`],
  ['DigitalOcean token', made('dop_v1_', HEX, 64), (s) => `doctl: ${s}`],
  ['Docker Hub token', made('dckr_pat_', MIXED, 27), (s) => `unauthorized: ${s}`],
  ['OpenAI key', made('sk-proj-', MIXED, 40), (s) => `Incorrect API key provided: ${s}.`],
  [
    'Telegram token',
    `${made('', '1234567890', 9)}:${made('AA', MIXED, 33)}`,
    (s) => `https://api.telegram.org/bot${s}/sendMessage`,
  ],
  ['Vault token', made('hvs.', MIXED, 40), (s) => `vault: ${s} lacks the policy`],
  ['age key', made('AGE-SECRET-KEY-1', UPPER, 58), (s) => `sops: ${s}`],
];

test.each(SECRETS)('%s is hidden', (_, secret, line) => {
  const shown = mask(line(secret));
  for (const part of secret.split('\n')) expect(shown).not.toContain(part);
  expect(shown).toContain('[masked]');
});

const HARMLESS = [
  'npm ERR! Missing script: "build"',
  'npm ERR! A complete log of this run can be found in: /root/.npm/_logs/2026-11-29T10_00_00_000Z-debug-0.log',
  'npm http fetch GET 200 https://registry.npmjs.org:443/@babel/core 120ms',
  'Local: http://localhost:5173/@vite/client',
  'HEAD is now at d4fc766 Fix cart rounding',
  'commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12',
  'Digest: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '"integrity": "sha512-LCTlMN1QE+8uJrZ0ZyJ7Jkq6Tz8cJj0n7JQ=="',
  'SyntaxError: Unexpected token } in JSON at position 12',
  'SyntaxError: Unexpected token: punc (})',
  'SyntaxError: Unexpected token < in JSON at position 0',
  'TypeError: Cannot read properties of undefined (reading key)',
  'Error: password: required',
  'Password: must be at least 8 characters',
  'Error: DB_PASSWORD is not set',
  'token: expired',
  'jwt expired at 2026-11-29T10:00:00Z',
  'max_tokens=4096 temperature=0.2',
  'tokens: 1532',
  'Cache key: node-modules-linux-9f86d081',
  'Restored cache from key node-modules-linux',
  'ERROR: duplicate value violates unique constraint "orders_pkey"',
  'Key (email)=(a@example.com) already exists.',
  'ALTER TABLE orders ADD PRIMARY KEY (id)',
  'keyboard=us monkey=3 turkey: roasted',
  'export PWD=/var/www/current',
  'password_file=/run/secrets/db',
  'token_type=bearer',
  '--password-stdin is safer than --password',
  `PASSWORD=$\{{ secrets.DB_PASSWORD }}`,
  'API_KEY=$API_KEY',
  'password=******',
  'secret: [hidden]',
  'Permission denied (publickey,password).',
  'ssh://git@code.example.com:22/acme/shop.git',
  'Cloning into git@code.example.com:acme/shop.git',
  'Mail to ops@example.com: delivery failed',
  'docker run -u 1000:1000 --network host shop',
  'Bearer authentication failed for the registry',
  'Warning: Permanently added web-1.example.net (ED25519) to the list of known hosts.',
  'SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDYq5BxX0E0bF8t1nE web-1 (ED25519)',
  'ssh-ed25519 is the type of the host key',
  'make: *** [Makefile:12: build] Error 2',
  'Uploading assets/index-9f86d081.js (12 of 486)',
  'GET https://storefront.example.com/health 502 Bad Gateway',
  'at Object.<anonymous> (/app/src/auth/token.ts:12:5)',
  'The signature of the package was verified',
  'bypass=1 compass: north',
  'Duration: 00:01:27, 3 secrets loaded, 2 keys rotated',
  'request id 1f0e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
];

test('there are enough samples', () => {
  expect(SECRETS.length).toBeGreaterThanOrEqual(40);
  expect(HARMLESS.length).toBeGreaterThanOrEqual(40);
});

test.each(HARMLESS)('%s stays', (line) => {
  expect(mask(line)).toBe(line);
});

test('only the secret is hidden', () => {
  expect(mask(`psql: postgres://app:${PLAIN}@db.internal:5432/shop refused`)).toBe(
    'psql: postgres://app:[masked]@db.internal:5432/shop refused',
  );
  expect(mask(`{"user":"app","password":"${PLAIN}","port":5432}`)).toBe(
    '{"user":"app","password":[masked],"port":5432}',
  );
});

test.each([
  ['password=', 'password='.repeat(400)],
  ['://', '://a:'.repeat(1_000)],
  ['quotes', 'token="'.repeat(500)],
  ['letters', 'a'.repeat(4_000)],
  ['spaces', `password${' '.repeat(3_000)}`],
  ['mysql', 'mysql -u '.repeat(400)],
  ['dots', `eyJ${'a.'.repeat(2_000)}`],
])('a hostile line of %s takes little time', (_, line) => {
  const before = process.cpuUsage();
  maskLines(Array.from({ length: 20 }, () => line));
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(400);
});
