import { spawnSync } from 'node:child_process';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from 'vitest';
import { SECRETS } from '../../src/config.ts';
import { readText } from '../support/deployment-files.ts';
import { byLength } from '../support/length.ts';
import { MIN_ENV, runDeckhand } from '../support/run-deckhand.ts';
import { temporaryFolder } from '../support/temporary.ts';

const { version } = JSON.parse(readText('package.json'));

const HELP = 'backup migrate export apply --check-config --version --help 78 75'.split(' ');

it.each(byLength(['--help', '--version'], ['--help', '-h', '--version', '-v']))(
  '%s is answered without any settings',
  async (option) => {
    const { code, out, err } = await runDeckhand({ args: [option] });
    expect([code, err]).toEqual([0, '']);
    if (option.includes('v')) expect(out).toBe(`${version}\n`);
    else for (const word of HELP) expect(out).toContain(word);
  },
);

it.each(byLength([['--verzion'], ['bakup']], [['--verzion'], ['bakup'], ['start', 'now']]))(
  '%s is refused with a way on',
  async (...args) => {
    const { code, out, err } = await runDeckhand({ args });
    expect([code, out]).toEqual([64, '']);
    expect(err).toMatch(/^[^\n]+ See deckhand --help\.\n$/);
  },
);

it('--check-config says that the settings are valid, and starts nothing', async () => {
  const ended = await runDeckhand({
    args: ['--check-config'],
    env: { ...MIN_ENV, STORE_URL: 'sqlite:///proc/none/deckhand.sqlite' },
  });
  expect(ended).toEqual({ code: 0, out: 'The configuration is valid.\n', err: '' });
});

it('--check-config lists every fault, also of a .env file, and no value', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, '.env'), 'PORT=canary\n');
  const { code, out, err } = await runDeckhand({ args: ['--check-config'], cwd, env: { LOG_LEVEL: 'loud' } });
  expect([code, out]).toEqual([78, '']);
  for (const name of ['PORT', 'LOG_LEVEL', 'ENCRYPTION_KEYS', 'SERVICE_BASE_URL', 'SLACK_SIGNING_SECRET'])
    expect(err).toMatch(new RegExp(`^ {2}${name} `, 'm'));
  expect(err).not.toMatch(/canary|loud/);
});

it.each([
  ['a folder', 'EISDIR', (path: string) => mkdir(path)],
  ['text in UTF-16', 'it is not UTF-8', (path: string) => writeFile(path, '\uFEFFPORT=0\n', 'utf16le')],
  ['no text', 'it is not UTF-8', (path: string) => writeFile(path, Buffer.from([0x50, 0x3d, 0xe9, 0x0a]))],
  ['a link to itself', 'ELOOP', (path: string) => symlink(path, path)],
])('a .env that is %s is one sentence at start', async (_, why, make) => {
  const cwd = await temporaryFolder();
  await make(join(cwd, '.env'));
  const { code, out, err } = await runDeckhand({ cwd, env: MIN_ENV });
  expect([code, out]).toEqual([78, '']);
  expect(err).toBe(
    `.env could not be read (${why}). Make it a text file in UTF-8 that this user can read, or remove it.\n`,
  );
});

it('a .env with a byte order mark, CRLF, quotes or export is read as Node reads one, and the environment wins', async () => {
  const cwd = await temporaryFolder();
  const { SLACK_SIGNING_SECRET, SERVICE_BASE_URL, ...others } = MIN_ENV;
  const lines = [
    'PORT=canary',
    `export SLACK_SIGNING_SECRET="${SLACK_SIGNING_SECRET}"`,
    `SERVICE_BASE_URL='${SERVICE_BASE_URL}' # a remark`,
  ];
  await writeFile(join(cwd, '.env'), `\uFEFF${lines.join('\r\n')}\r\n`);
  const args = ['--check-config'];
  expect(await runDeckhand({ cwd, env: others, args })).toMatchObject({ code: 0, err: '' });
  const { PORT: _, ...withoutPort } = others;
  expect((await runDeckhand({ cwd, env: withoutPort, args })).err).toContain('PORT must be a whole number');
});

it('an empty variable of the environment does not hide the line of .env', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, '.env'), `SLACK_BOT_TOKEN=${MIN_ENV.SLACK_BOT_TOKEN}\nPORT=canary\n`);
  const { code, err } = await runDeckhand({
    cwd,
    args: ['--check-config'],
    env: { ...MIN_ENV, SLACK_BOT_TOKEN: '', PORT: ' ' },
  });
  expect([code, err]).toEqual([78, expect.stringMatching(/^[^\n]+\n {2}PORT must be [^\n]+\n$/)]);
});

it('each secret is read from the file that its variable with _FILE names', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'secret'), '"canary"\n');
  const file = (path: string) => Object.fromEntries(SECRETS.map((name) => [`${name}_FILE`, path]));
  const run = (env: Record<string, string>) =>
    runDeckhand({
      cwd,
      args: ['--check-config'],
      env: { SERVICE_BASE_URL: MIN_ENV.SERVICE_BASE_URL, ...env },
    });
  const faults = async (env: Record<string, string>) => (await run(env)).err.trimEnd().split('\n');
  const read = await faults({ ...file('secret'), SLACK_BOT_TOKEN: ' ' });
  for (const name of SECRETS) expect(read).toContain(`  ${name} is in quotes; write it without them`);
  expect(await faults(file('/nowhere/secret'))).toEqual(
    SECRETS.map((name) =>
      expect.stringMatching(`^/nowhere/secret of ${name}_FILE could not be read .ENOENT.`),
    ),
  );
  expect(await run({ ...MIN_ENV, SLACK_BOT_TOKEN_FILE: 'secret' })).toEqual({
    code: 78,
    out: '',
    err: 'SLACK_BOT_TOKEN and SLACK_BOT_TOKEN_FILE are both set. Remove one of them.\n',
  });
});

it.each(byLength(['apply'], ['backup', 'restore', 'migrate', 'rotate-keys', 'schema', 'export', 'apply']))(
  'deckhand %s has help of its own, and names itself where it is refused',
  async (program) => {
    const out = expect.stringContaining(`Usage: deckhand ${program}`);
    expect(await runDeckhand({ args: [program, '--help'] })).toEqual({ code: 0, out, err: '' });
    const { code, err } = await runDeckhand({ args: [program, '--nonsense'] });
    expect([code, err]).toEqual([64, expect.stringContaining(`See deckhand ${program} --help.\n`)]);
  },
);

it('an npm script installs what it is run with also where the environment is that of production', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const cwd = await temporaryFolder();
  await mkdir(join(cwd, 'scripts'));
  await cp(join(root, 'scripts', 'ready.mjs'), join(cwd, 'scripts', 'ready.mjs'));
  await writeFile(join(cwd, 'npm'), `#!/bin/sh\necho "$@" > ${cwd}/asked\nexit 7\n`, { mode: 0o755 });
  const env = { PATH: `${cwd}:${process.env.PATH}`, NODE_ENV: 'production' };
  const { status, stderr } = spawnSync(process.execPath, [join(cwd, 'scripts', 'ready.mjs'), 'any.ts'], {
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([7, 'The installation failed; the reason stands above.\n']);
  expect(await readFile(join(cwd, 'asked'), 'utf8')).toContain('--include=dev');
});
