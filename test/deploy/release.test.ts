import { describe, expect, it } from 'vitest';
import { readText, readYaml } from '../support/deployment-files.ts';

// biome-ignore lint/suspicious/noExplicitAny: a workflow of GitHub has no types here
type Any = any;

const { jobs, permissions } = readYaml('.github/workflows/release.yml') as Any;
const steps = Object.values<Any>(jobs).flatMap((job) => job.steps);
/** Programs and actions that run what others wrote. */
const RUNS_OTHERS =
  /\bnpm\b|\bnpx\b|\.ci\/run|docker build|actions\/(checkout|setup-node)|build-push-action|setup-buildx/;

describe('the release', () => {
  it('is built by a job that may neither write nor sign', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const mighty = Object.values<Any>(jobs).filter((job) => job.permissions !== undefined);
    expect(mighty).toHaveLength(1);
    const acts = mighty[0].steps.map(({ uses, run }: Any) => `${uses} ${run}`);
    expect(acts.filter((act: string) => RUNS_OTHERS.test(act))).toEqual([]);
    expect(jobs.build.steps.some(({ run }: Any) => run?.includes('npm ci'))).toBe(true);
    expect([jobs.build.needs, jobs.release.needs]).toEqual(['gate', 'build']);
  });

  it('says first what breaks, in the changelog and so in its notes', () => {
    const [, newest = ''] = readText('CHANGELOG.md').split(/^## .*$/m);
    expect(newest.match(/^### .*$/m)?.[0]).toBe('### What breaks');
    const notes = jobs.build.steps.find(({ run }: Any) => run?.includes('CHANGELOG.md'));
    expect(notes.run).toContain("grep -q '^### What breaks' notes.md");
    expect(jobs.release.steps.at(-1).run).toContain('--notes-file notes.md');
  });

  it('uses each action in one version, which its commit names', () => {
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/);
  });
});
