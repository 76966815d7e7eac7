import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { createMetrics } from '../../src/observability/metrics.ts';
import { SCHEDULE_KINDS } from '../../src/records/schedules.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, openTestWorld, type TestWorld } from '../support/test-world.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

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
          annotations: z.strictObject({ summary: z.string(), action: z.string(), paragraph: z.string() }),
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

/** What Prometheus adds to every scrape by itself, and its exporter on the machine of Postgres. */
const PROMETHEUS_OWN = new Set(['up', 'ALERTS', 'node_filesystem_avail_bytes', 'node_filesystem_size_bytes']);
const LABELS_OWN = ['job', 'instance', 'alertname', 'alertstate', 'fstype', 'mountpoint'];

const UP = 'up{job="deckhand"} 1x120';
/** Series of two hours, by the alert that alone must fire at their end. alerts.test.ts has the other alerts, and their times. */
const FAULTS: Record<string, string[]> = {
  DeckhandGone: [],
  DeckhandDiskAlmostFull: ['deckhand_disk_free_bytes 400000000x120'],
  DeckhandRequestsRefused: ['deckhand_requests_refused_total{reason="missing"} 0+60x120'],
  DeckhandQueueGrows: ['deckhand_queue_jobs{queue="requests",state="waiting"} 0+10x120'],
  DeckhandJobsDead: ['deckhand_jobs_total{queue="requests",outcome="failed"} 0x90 1x30'],
  DeckhandSocketDown: [UP, 'deckhand_slack_connected{by="socket"} 0x120'],
  DeckhandPushesStopped: ['deckhand_pushes_total{outcome="missing"} 0x90 1x30'],
  DeckhandSlotsLate: [
    'deckhand_slot_lag_seconds_bucket{le="300"} 0+1x120',
    'deckhand_slot_lag_seconds_bucket{le="900"} 0+60x120',
    'deckhand_slot_lag_seconds_bucket{le="+Inf"} 0+60x120',
    'deckhand_slot_lag_seconds_count 0+60x120',
  ],
  DeckhandPossibleDuplicate: ['deckhand_possible_duplicates_total{what="post"} 0x90 1x30'],
  DeckhandEventLoopSlow: ['nodejs_eventloop_lag_p99_seconds 0.6x120'],
};
const HEALTHY = [
  'deckhand_engine_up 1x120',
  'deckhand_disk_free_bytes 5000000000x120',
  'deckhand_slack_token_refused{variable="SLACK_BOT_TOKEN"} 0x112 1x8',
  'deckhand_queue_jobs{queue="requests",state="waiting"} 200x120',
  'deckhand_pushes_total{outcome="came"} 0+1x120',
];

/** What Grafana puts in before it asks. */
function filledIn(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'deckhand');
}

/** Names of metrics and labels in an expression. @throws where it is not PromQL */
function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(expr).iterate({
    enter(node) {
      if (node.type.isError) throw new SyntaxError(`not PromQL at ${node.from}: ${expr}`);
      const text = expr.slice(node.from, node.to);
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(text);
      if (node.name === 'LabelName') labels.push(text);
    },
  });
  return { metrics, labels };
}

/** What a process tells in which everything has happened once. */
async function toldByAll(): Promise<string> {
  const metrics = createMetrics('0.0.0', async () => ({
    requests: { waiting: 1, later: 1, running: 1, oldestDueMs: 1 },
  }));
  metrics.ack(1);
  metrics.refused('forged');
  metrics.command('whoami', 'command', 'done');
  metrics.slackCall('chat.postMessage', 'ok', 1);
  metrics.serviceCall({ operation: 'getProfile', kind: 'ok', ms: 1 });
  metrics.follow(1);
  metrics.keyRefused();
  metrics.previousEnd(true);
  metrics.socket(true);
  metrics.job('requests', 'done');
  metrics.possibleDuplicate('post');
  metrics.occurrence('digest', 'posted', 1);
  metrics.push('came');
  return metrics.text();
}

/** Every series name, with the labels it comes with. */
async function seriesOf(): Promise<Map<string, Set<string>>> {
  const series = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of (await toldByAll()).matchAll(
    /^([a-z0-9_]+)(?:\{(.*)\})? \S+$/gm,
  )) {
    const known = series.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) known.add(label);
    series.set(name, known);
  }
  return series;
}

async function scrape(world: TestWorld): Promise<{ type: string; text: string }> {
  const { headers, body } = await request(`${world.origin}/metrics`);
  return { type: String(headers['content-type']), text: await body.text() };
}

describe('alert rules and dashboard', () => {
  it.each(queries)('$name asks in PromQL for what there is: $expr', async ({ expr }) => {
    const series = await seriesOf();
    const { metrics, labels } = namesIn(filledIn(expr));
    expect(metrics.length).toBeGreaterThan(0);
    expect(
      metrics.filter((name) => !series.has(name) && !PROMETHEUS_OWN.has(name)),
      'docs/alerts.yml or docs/grafana-dashboard.json reads a series that Deckhand does not have.',
    ).toEqual([]);
    const known = new Set([...LABELS_OWN, ...metrics.flatMap((name) => [...(series.get(name) ?? [])])]);
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });

  it('leaves none of our metrics unseen', async () => {
    const shown = new Set(
      panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(filledIn(expr)).metrics)),
    );
    const ours = [...(await seriesOf()).keys()].filter((name) => name.startsWith('deckhand_'));
    // Of a histogram one series is enough.
    const baseOf = (name: string) => name.replace(/_(bucket|count|sum)$/, '');
    const shownBases = new Set([...shown].map(baseOf));
    expect(
      ours.filter((name) => !shownBases.has(baseOf(name))),
      'Show the series in docs/grafana-dashboard.json.',
    ).toEqual([]);
  });

  it('names the paragraph of operations.md that helps', () => {
    const text = readFileSync(join(docs, 'operations.md'), 'utf8');
    const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(
      ([, title = '']) => `operations.md#${title.toLowerCase().replaceAll(' ', '-')}`,
    );
    for (const { annotations } of rules) expect(anchors).toContain(annotations.paragraph);
  });

  it('fires for each fault, and for nothing else', async ({ skip }) => {
    if (spawnSync('promtool', ['--version']).status !== 0) return skip('promtool is not installed here');
    const folder = await temporaryFolder();
    const file = join(folder, 'alerts.test.yml');
    const tests = [...Object.entries(FAULTS), [undefined, HEALTHY] as const].map(([alertname, series]) => ({
      interval: '1m',
      input_series: [...(/Gone|Down$/.test(alertname ?? '') ? [] : [UP]), ...series].map((one) => {
        const at = one.indexOf(' ');
        return { series: one.slice(0, at), values: one.slice(at + 1) };
      }),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: '2h',
          exp_samples: alertname === undefined ? [] : [{ labels: `{alertname="${alertname}"}`, value: 1 }],
        },
      ],
    }));
    await writeFile(
      file,
      stringify({ rule_files: [join(docs, 'alerts.yml')], evaluation_interval: '1m', tests }),
    );
    const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});

describe('/metrics', () => {
  it('tells what happened, in Prometheus’ format', async () => {
    const world = await openTestWorld();
    onTestFinished(() => world.stop());
    await world.connect();
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await expect
      .poll(async () => (await scrape(world)).text)
      .toMatch(/^deckhand_jobs_total{queue="follow-test",outcome="done"} 1$/m);
    await request(`${world.origin}/slack/events`, { method: 'POST', body: 'unsigned' });

    const { type, text } = await scrape(world);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toMatch(/^deckhand_ack_duration_seconds_count [1-9]/m);
    expect(text).toMatch(/^deckhand_commands_total{command="test",by="command",outcome="done"} 1$/m);
    expect(text).toMatch(/^deckhand_commands_total{command="connect",by="form",outcome="done"} 1$/m);
    expect(text).toContain('deckhand_requests_refused_total{reason="missing"} 1\n');
    expect(text).toContain('deckhand_requests_refused_total{reason="wrong"} 0\n');
    expect(text).toMatch(/^deckhand_queue_jobs{queue="follow-test",state="waiting"} 0$/m);
    expect(text).toMatch(/^deckhand_build_info{version="[\d.]+",node="v[\d.]+"} 1$/m);
    expect(text).toContain('deckhand_engine_up 1');
    expect(text).toMatch(/^deckhand_disk_free_bytes [1-9]\d{5,}$/m);
    // The alerts count these before they happen, so that the first time is an increase.
    for (const what of ['post', 'run', 'order'])
      expect(text).toContain(`deckhand_possible_duplicates_total{what="${what}"} 0\n`);
    for (const name of ['accounts', 'schedules', 'runs'])
      expect(text).toContain(`deckhand_unreadable_total{kind="document",of="${name}"} 0\n`);
    expect(text).toContain('deckhand_unreadable_total{kind="job",of="digest"} 0\n');
    expect(text).toContain('deckhand_keys_refused_total 0\n');
    for (const kind of SCHEDULE_KINDS)
      expect(text).toContain(`deckhand_slots_total{kind="${kind}",outcome="failed"} 0\n`);
    for (const queue of ['requests', 'follow-test'])
      expect(text).toContain(`deckhand_jobs_total{queue="${queue}",outcome="failed"} 0\n`);
  });

  it('is told before Prometheus gives up, also where the database neither answers nor fails', async () => {
    const clock = createManualClock();
    const metrics = createMetrics('0.0.0', () => Promise.withResolvers<never>().promise, clock);
    metrics.follow(1);
    const text = metrics.text();
    await clock.advance(5_000);
    expect(await text).toContain('deckhand_engine_up 0');
    expect(await text).toContain('deckhand_followed_runs 1');
  });
});
