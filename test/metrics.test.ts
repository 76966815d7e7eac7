import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { createMetrics } from '../src/metrics.ts';
import { CHANNEL, type House, openHouse } from './support/house.ts';

const docs = join(import.meta.dirname, '..', 'docs');

const Alerts = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.strictObject({ severity: z.enum(['page', 'warn', 'info']) }),
          annotations: z.strictObject({ summary: z.string(), action: z.string() }),
        }),
      ),
    }),
  ),
});
const rules = Alerts.parse(parse(readFileSync(join(docs, 'alerts.yml'), 'utf8'))).groups.flatMap(
  (group) => group.rules,
);

const Dashboard = z.looseObject({
  panels: z.array(
    z.looseObject({
      id: z.number(),
      title: z.string(),
      targets: z.array(z.looseObject({ expr: z.string() })).default([]),
    }),
  ),
});
const { panels } = Dashboard.parse(
  JSON.parse(readFileSync(join(docs, 'grafana-dashboard.json'), 'utf8')) as unknown,
);

const queries = [
  ...rules.map(({ alert, expr }) => ({ name: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ name: title, expr }))),
];

/** What Prometheus adds to every scrape by itself. */
const PROMETHEUS_OWN = new Set(['up']);

/** What Grafana puts in before it asks. */
function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'deckhand');
}

/** Names of metrics in an expression. @throws where it is not PromQL */
function metricsOf(expr: string): string[] {
  const names: string[] = [];
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new SyntaxError(`not PromQL at ${node.from}: ${expr}`);
      const isName = node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector';
      if (isName) names.push(expr.slice(node.from, node.to));
    },
  });
  return names;
}

/** Every series name that an empty process declares, with what a histogram adds. */
async function declaredNames(): Promise<Set<string>> {
  const text = await createMetrics('0.0.0', async () => ({ queues: {} })).text();
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
}

async function scrape(house: House): Promise<{ type: string; text: string }> {
  const { headers, body } = await request(`${house.origin}/metrics`);
  return { type: String(headers['content-type']), text: await body.text() };
}

describe('alert rules and dashboard', () => {
  it.each(queries)('$name asks in PromQL for what there is: $expr', async ({ expr }) => {
    const declared = await declaredNames();
    const asked = metricsOf(filledIn(expr));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((name) => !declared.has(name) && !PROMETHEUS_OWN.has(name))).toEqual([]);
  });

  it('names every rule and panel once', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it('is told apart from what is not PromQL', () => {
    expect(() => metricsOf('sum by (rate(x[5m])')).toThrow(SyntaxError);
  });
});

describe('/metrics', () => {
  it('tells what happened, in Prometheus’ format', async () => {
    const house = await openHouse();
    onTestFinished(() => house.stop());
    await house.connect();
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await expect
      .poll(async () => (await scrape(house)).text)
      .toMatch(/^deckhand_jobs_total{queue="follow-test",outcome="done"} 1$/m);
    await request(`${house.origin}/slack/events`, { method: 'POST', body: 'unsigned' });

    const { type, text } = await scrape(house);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toMatch(/^deckhand_ack_duration_seconds_count [1-9]/m);
    expect(text).toMatch(/^deckhand_commands_total{command="test",by="command",outcome="done"} 1$/m);
    expect(text).toMatch(/^deckhand_commands_total{command="connect",by="form",outcome="done"} 1$/m);
    expect(text).toMatch(/^deckhand_requests_refused_total{reason="[^"]+"} 1$/m);
    expect(text).toMatch(/^deckhand_queue_jobs{queue="follow-test",state="waiting"} 0$/m);
    expect(text).toMatch(/^deckhand_build_info{version="0.0.0-test",node="v[\d.]+"} 1$/m);
    expect(text).toContain('deckhand_engine_up 1');
  });

  it('is told also while the engine does not answer', async () => {
    const metrics = createMetrics('0.0.0', () => Promise.reject(new Error('no database')));
    metrics.followed(1);
    const text = await metrics.text();
    expect(text).toContain('deckhand_engine_up 0');
    expect(text).toContain('deckhand_followed_runs 1');
  });
});
