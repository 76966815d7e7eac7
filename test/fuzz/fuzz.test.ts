import { expect, it } from 'vitest';
import { byLength } from '../support/length.ts';
import { fuzz } from './fuzz.ts';

it(
  'malformed requests and answers neither end nor stall it, and none is answered with a 5xx',
  async () => {
    const report = await fuzz({
      cases: byLength(250, 100_000),
      seed: 20_260_302,
    });
    expect(report).toMatchObject({ crashed: false, unhandled: [], answers: true });
    // Cases that got deep, and cases that were turned away.
    expect(report.statuses.slack[200]).toBeGreaterThan(60);
    expect(report.statuses.slack[400]).toBeGreaterThan(6);
    expect(report.statuses.mcp[200]).toBeGreaterThan(12);
    expect(report.statuses.mcp[400]).toBeGreaterThan(1);
    expect(report.statuses.metrics[200]).toBeGreaterThan(1);
    expect(report.statuses.metrics[404]).toBeGreaterThan(1);
  },
  byLength(300_000, 3_600_000),
);
