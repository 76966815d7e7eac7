import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { maskLines } from '../../src/core/mask-secrets.ts';
import type { Deployment, LogEntry, Step } from '../../src/service/deployments.ts';
import {
  connects,
  findErrorLine,
  findFailedStep,
  matchDeployment,
  readLines,
} from '../../src/service/step-log.ts';

const entry = (message: string, detail = '', type = 'info'): LogEntry => ({
  id: message,
  message,
  detail,
  type,
});

function pick(...entries: LogEntry[]): string | undefined {
  const lines = readLines(entries);
  return lines[findErrorLine(lines)?.at ?? -1]?.text;
}

const ESC = String.fromCharCode(27);
const NPM = [
  'npm ERR! Missing script: "build"',
  'npm ERR!',
  'npm ERR! To see a list of scripts, run:',
  'npm ERR!   npm run',
  'npm ERR! A complete log of this run can be found in:',
  'npm ERR!     /root/.npm/_logs/2026-11-29-debug-0.log',
].join('\n');

describe('the line that says why a step failed', () => {
  test.each<[string, string | undefined, LogEntry[]]>([
    ['in the output of a command', 'npm ERR! Missing script: "build"', [entry('npm run build', NPM)]],
    [
      'of an entry that is an error',
      'npm ERR! Missing script: "build"',
      [entry('Ended with status 1', NPM, 'Error')],
    ],
    [
      'without words for it',
      'sh: vite: gone',
      [entry('A command ended', 'building\nsh: vite: gone\n', 'ERROR')],
    ],
    [
      'in the error, not in what follows',
      'Disk is full',
      [entry('Disk is full', '', 'error'), entry('Cleaning up')],
    ],
    [
      'instead of the exit status',
      'src/a.ts(1,2): error TS2304',
      [entry('tsc', 'src/a.ts(1,2): error TS2304\nProcess exited with code 2')],
    ],
    [
      'of a program that is missing',
      '/bin/sh: vite: command not found',
      [entry('vite build', '/bin/sh: vite: command not found')],
    ],
    [
      'beside a count of no errors',
      'Upload failed: quota',
      [entry('Upload failed: quota'), entry('0 errors, 2 warnings')],
    ],
    ['as the last line if none says it', 'Stopped here', [entry('Begins'), entry('Stopped here')]],
    [
      'of make',
      'ld: symbol not found: _main',
      [entry('make', 'ld: symbol not found: _main\nmake: *** [all] Error 2')],
    ],
    ['of nothing', undefined, []],
    ['of empty entries', undefined, [entry(''), entry(' \n\t')]],
  ])('%s', (_, line, entries) => {
    expect(pick(...entries)).toBe(line);
  });

  test('has no colours, control characters or earlier states of a progress bar', () => {
    const colours = `${ESC}[31m${ESC}[1mError:${ESC}[0m no space${ESC}]8;;https://x.example${String.fromCharCode(7)} left`;
    expect(pick(entry('', colours))).toBe('Error: no space left');
    expect(pick(entry('', 'Uploading 10%\rUploading 99%\rError: quota\r\n'))).toBe('Error: quota');
    expect(pick(entry(`Er${String.fromCharCode(0x200b)}ror:${String.fromCharCode(0)} x`))).toBe('Error: x');
  });

  test.each([
    ['lines', 'error: no\n'.repeat(400_000)],
    ['one line', 'error '.repeat(700_000)],
    ['progress bars', `${'1%\r'.repeat(1_300_000)}error`],
    ['colours', `${ESC}[31m`.repeat(800_000)],
    ['openings of a link', `${ESC}]8;`.repeat(800_000)],
  ])('is found in four megabytes of %s without holding others up', (_, text) => {
    const log = [entry('', text, 'error')];
    const runs = Array.from({ length: 3 }, () => {
      const before = process.threadCpuUsage();
      pick(...log);
      maskLines(
        readLines(log).map((line) => line.text),
        20,
      );
      return process.threadCpuUsage(before).user / 1_000;
    });
    // The first runs compile the code.
    expect(Math.min(...runs)).toBeLessThan(100);
  });
});

const step = (status: string, more: Partial<Step> = {}): Step => {
  return {
    identifier: status,
    step: '',
    stage: '',
    server: null,
    description: '',
    status,
    logs: true,
    ...more,
  };
};

test.each([
  [['completed', 'failed', 'pending'], 'failed'],
  [['Completed', 'ERRORED', 'skipped'], 'ERRORED'],
  [['success', 'timed out', 'not started'], 'timed out'],
  [['done', 'running', 'pending'], 'running'],
  [['completed', 'completed'], undefined],
  [['', ''], undefined],
  [['completed', 'cancelled', 'failed', 'cancelled'], 'failed'],
  [[], undefined],
])('of steps that are %s the failed one is %s', (statuses, failed) => {
  expect(findFailedStep(statuses.map((status) => step(status)))?.status).toBe(failed);
});

test.each([
  ['preparing', 'repository', false],
  ['Building', 'build_command', false],
  ['finishing', 'check', false],
  ['transferring', 'transfer_files', true],
  ['finishing', 'ssh_command', true],
  ['', '', true],
])('a step of %s, %s needs a connection: %s', (stage, kind, needed) => {
  expect(connects(step('failed', { stage, step: kind }))).toBe(needed);
});

const AT = Date.parse('2026-11-29T10:00:00Z');

function deployment(identifier: string, seconds: number | null, more: Partial<Deployment> = {}): Deployment {
  const completed_at = seconds === null ? null : new Date(AT + seconds * 1_000).toISOString();
  const end_revision = { ref: 'd4fc7661', author: '', message: '', short_message: '' };
  return {
    identifier,
    status: 'failed',
    deployer: '',
    end_revision,
    servers: [],
    timestamps: { completed_at },
    ...more,
  };
}
const on = (...names: string[]) => ({ servers: names.map((name) => ({ name, identifier: name })) });
const ref = (text: string) => ({ end_revision: { ref: text, author: '', message: '', short_message: '' } });

test.each<[string, Deployment[], string | undefined]>([
  [
    'the nearest of two of one revision',
    [deployment('later', 100), deployment('right', 5), deployment('earlier', -90)],
    'right',
  ],
  ['none of three minutes before', [deployment('old', -180)], undefined],
  ['none of another revision', [deployment('other', 1, ref('aaaaaaa1'))], undefined],
  ['one whose revision is short', [deployment('short', 1, ref('d4fc766'))], 'short'],
  ['none whose revision is too short', [deployment('tiny', 1, ref('d4f'))], undefined],
  ['none that went well', [deployment('good', 1, { status: 'Completed' })], undefined],
  ['one with a word of its own', [deployment('odd', 1, { status: 'Errored' })], 'odd'],
  ['none to another server', [deployment('other', 1, on('web-9'))], undefined],
  [
    'the one to its server',
    [deployment('other', 1, on('web-9')), deployment('own', 60, on('web-1', 'web-2'))],
    'own',
  ],
  ['one without a time', [deployment('timeless', null)], 'timeless'],
  ['a dated one first', [deployment('timeless', null), deployment('dated', 30)], 'dated'],
  ['one of a service whose clock is ahead', [deployment('ahead', 600)], 'ahead'],
])('the deployment of an event is %s', (_, deployments, found) => {
  const event = { ref: 'D4FC7661', servers: ['Web-1'], at: AT };
  expect(matchDeployment(deployments, event, AT + 110_000)?.identifier).toBe(found);
});
