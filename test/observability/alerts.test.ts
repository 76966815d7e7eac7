import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { byLength } from '../support/length.ts';
import { temporaryFolder } from '../support/temporary.ts';

const rules = join(import.meta.dirname, '..', '..', 'docs', 'alerts.yml');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Requests an hour, by their index in `fires`. The other two are tried with the long tests. */
const TRAFFIC = [20, 60, 360, 3600] as const;
const TRIED = byLength([0, 3], [0, 1, 2, 3]);
/** Minutes: each fault begins after some time without one, and stays. */
const BEGIN = 36;
const END = 76;

/** A series by its value each minute; undefined before it exists. */
type Series = Record<string, (minute: number) => number | undefined>;

const always = (value: number) => () => value;
/** A counter that grows by this much an hour, in whole steps. */
const grows = (anHour: number) => (minute: number) => Math.floor((minute * anHour) / 60);
/** A counter that stays at 0 until the fault, and then grows. */
const growsLater = (anHour: number) => (minute: number) => grows(anHour)(Math.max(0, minute - BEGIN));
/** A counter that grows until the fault. */
const growsFirst = (anHour: number) => (minute: number) => grows(anHour)(Math.min(minute, BEGIN));
/** A counter whose series appears with its first step, as those of a method and outcome do. */
const appears = (anHour: number) => (minute: number) => growsLater(anHour)(minute) || undefined;
const until = (before: number, after: number) => (minute: number) => (minute < BEGIN ? before : after);

const ACK = 'deckhand_ack_duration_seconds';
const SLACK = 'deckhand_slack_call_duration_seconds';
const SERVICE = 'deckhand_service_call_duration_seconds';
const of = (instance: string) => `{job="deckhand",instance="${instance}"}`;

/** A healthy Deckhand. Each request makes one call of Slack and one of the service. */
function healthy(anHour: number, instance = 'a'): Series {
  const own = `job="deckhand",instance="${instance}"`;
  return {
    [`up${of(instance)}`]: always(1),
    [`deckhand_engine_up${of(instance)}`]: always(1),
    [`process_start_time_seconds${of(instance)}`]: always(-36_000),
    [`deckhand_previous_end_unclean${of(instance)}`]: always(0),
    [`deckhand_disk_free_bytes${of(instance)}`]: always(5e9),
    [`deckhand_backup_due_timestamp_seconds${of(instance)}`]: always(1e9),
    [`deckhand_followed_overdue_seconds${of(instance)}`]: always(0),
    [`deckhand_keys_refused_total${of(instance)}`]: always(0),
    [`deckhand_slack_token_refused{variable="SLACK_BOT_TOKEN",${own}}`]: always(0),
    [`deckhand_unreadable_total{kind="document",of="schedules",${own}}`]: always(0),
    [`deckhand_slots_total{kind="digest",outcome="failed",${own}}`]: always(0),
    [`deckhand_queue_oldest_due_seconds{queue="digests",${own}}`]: always(0),
    [`deckhand_requests_refused_total{reason="wrong",${own}}`]: always(0),
    [`deckhand_requests_refused_total{reason="missing",${own}}`]: always(0),
    [`${ACK}_count${of(instance)}`]: grows(anHour),
    [`${ACK}_bucket{le="1",${own}}`]: grows(anHour),
    [`${ACK}_bucket{le="2.5",${own}}`]: grows(anHour),
    [`${ACK}_bucket{le="+Inf",${own}}`]: grows(anHour),
    [`deckhand_commands_total{command="test",outcome="done",${own}}`]: grows(anHour),
    [`deckhand_commands_total{command="test",outcome="failed",${own}}`]: always(0),
    [`${SLACK}_count{method="chat.postMessage",outcome="ok",${own}}`]: grows(anHour),
    [`${SERVICE}_count{operation="getProject",outcome="ok",${own}}`]: grows(anHour),
    [`${SERVICE}_bucket{le="5",operation="getProject",outcome="ok",${own}}`]: grows(anHour),
  };
}

const NEVER = -1;

interface Fault {
  /** Series in place of those of a healthy Deckhand. */
  series: (anHour: number) => Series;
  /** Minutes from the fault to each alert, at each traffic; one number if traffic plays no part. */
  fires: Record<string, readonly number[]>;
}

const A = 'job="deckhand",instance="a"';
const REFUSED = (reason: string, count: (minute: number) => number): Series => ({
  [`deckhand_requests_refused_total{reason="${reason}",${A}}`]: count,
});
const noAcks = (anHour: number): Series =>
  Object.fromEntries(
    Object.keys(healthy(anHour))
      .filter((name) => name.startsWith(ACK))
      .map((name) => [name, growsFirst(anHour)]),
  );

const FAULTS: Record<string, Fault> = {
  'another signing secret, or a clock that is off': {
    series: (anHour) => ({ ...noAcks(anHour), ...REFUSED('wrong', growsLater(anHour)) }),
    fires: { DeckhandAllRefused: [15], DeckhandRequestsRefused: [NEVER, NEVER, NEVER, 11] },
  },
  'a record that cannot be read': {
    series: () => ({
      [`deckhand_unreadable_total{kind="document",of="schedules",${A}}`]: until(0, 1),
    }),
    fires: { DeckhandUnreadable: [0] },
  },
  'killed for memory every 11 minutes': {
    series: () => ({
      [`process_start_time_seconds${of('a')}`]: (minute) =>
        minute < BEGIN ? -36_000 : (minute - ((minute - BEGIN) % 11)) * 60,
      [`deckhand_previous_end_unclean${of('a')}`]: until(0, 1),
    }),
    fires: { DeckhandKilled: [0], DeckhandRestarting: [33] },
  },
  'acknowledgements that take 1.5 s': {
    series: (anHour) => ({ [`${ACK}_bucket{le="1",${A}}`]: growsFirst(anHour) }),
    fires: { DeckhandAcksSlow: [17, 7, 3, 3] },
  },
  'a nightly backup that fails': {
    series: () => ({ [`deckhand_backup_due_timestamp_seconds${of('a')}`]: always(BEGIN * 60) }),
    fires: { DeckhandBackupMissing: [1] },
  },
  'a full disk of Postgres': {
    series: () => ({
      'node_filesystem_avail_bytes{job="deckhand-postgres",mountpoint="/var/lib/postgresql",fstype="ext4"}':
        until(5e9, 5e8),
      'node_filesystem_size_bytes{job="deckhand-postgres",mountpoint="/var/lib/postgresql",fstype="ext4"}':
        always(1e10),
    }),
    fires: { DeckhandPostgresDiskAlmostFull: [5] },
  },
  'a service that answers after 8 s': {
    series: (anHour) => ({
      [`${SERVICE}_bucket{le="5",operation="getProject",outcome="ok",${A}}`]: growsFirst(anHour),
    }),
    fires: { DeckhandServiceSlow: [17, 7, 6, 6] },
  },
  'a service that does not answer': {
    series: (anHour) => ({
      [`${SERVICE}_count{operation="getProject",outcome="ok",${A}}`]: growsFirst(anHour),
      [`${SERVICE}_bucket{le="5",operation="getProject",outcome="ok",${A}}`]: growsFirst(anHour),
      [`${SERVICE}_count{operation="getProject",outcome="unreachable",${A}}`]: appears(anHour),
      [`${SERVICE}_bucket{le="5",operation="getProject",outcome="unreachable",${A}}`]: appears(anHour),
      [`deckhand_commands_total{command="test",outcome="done",${A}}`]: growsFirst(anHour),
      [`deckhand_commands_total{command="test",outcome="failed",${A}}`]: growsLater(anHour),
    }),
    fires: { DeckhandServiceFailing: [20, 7, 6, 6], DeckhandCommandsFailing: [18, 16, 16, 16] },
  },
  'a key that the service refuses': {
    series: () => ({ [`deckhand_keys_refused_total${of('a')}`]: until(0, 1) }),
    fires: { DeckhandKeyRefused: [0] },
  },
  'Slack’s rate limits': {
    series: (anHour) => ({
      [`${SLACK}_count{method="chat.postMessage",outcome="busy",${A}}`]: appears(anHour),
    }),
    fires: { DeckhandSlackBusy: [18, 5, 2, 2] },
  },
  'a Slack that does not answer': {
    series: (anHour) => ({
      [`${SLACK}_count{method="chat.postMessage",outcome="ok",${A}}`]: growsFirst(anHour),
      [`${SLACK}_count{method="chat.postMessage",outcome="unreachable",${A}}`]: appears(anHour),
    }),
    fires: { DeckhandSlackFailing: [20, 7, 6, 6] },
  },
  'a run that does not end': {
    series: () => ({
      [`deckhand_followed_overdue_seconds${of('a')}`]: (minute) => Math.max(0, minute - BEGIN) * 60,
    }),
    fires: { DeckhandFollowingStuck: [16] },
  },
  'a refused bot token': {
    series: () => ({ [`deckhand_slack_token_refused{variable="SLACK_BOT_TOKEN",${A}}`]: until(0, 1) }),
    fires: { DeckhandTokenRefused: [10] },
  },
  'a database that does not answer': {
    series: () => ({ [`deckhand_engine_up${of('a')}`]: until(1, 0) }),
    fires: { DeckhandStoreDown: [2] },
  },
  'the only process gone': {
    series: () => ({
      [`up${of('a')}`]: until(1, 0),
      [`deckhand_engine_up${of('a')}`]: (minute) => (minute < BEGIN ? 1 : undefined),
    }),
    fires: { DeckhandDown: [2] },
  },
  'one of two replicas gone': {
    series: (anHour) => ({ ...healthy(anHour, 'b'), [`up${of('b')}`]: until(1, 0) }),
    fires: { DeckhandReplicaDown: [15] },
  },
  'a digest that fails': {
    series: () => ({ [`deckhand_slots_total{kind="digest",outcome="failed",${A}}`]: until(0, 1) }),
    fires: { DeckhandSlotsFailing: [0] },
  },
  'jobs that nobody does': {
    series: () => ({
      [`deckhand_queue_oldest_due_seconds{queue="digests",${A}}`]: (minute) =>
        Math.max(0, minute - BEGIN) * 60,
    }),
    fires: { DeckhandQueueStuck: [7] },
  },
};

/** Minutes of a quiet day at which something small happens. Each says what it was. */
const SMALL: Record<string, Series> = {
  'two acknowledgements of 1.5 s in 3 minutes': dips(`${ACK}_bucket{le="1",${A}}`, 60, [600, 602]),
  'one person who tries invoices twice': {
    [`deckhand_commands_total{command="invoices",outcome="failed",${A}}`]: steps([700, 701]),
  },
  'one of two replicas away for 3 minutes': {
    ...healthy(20, 'b'),
    [`up${of('b')}`]: (minute) => (minute % 1440 >= 800 && minute % 1440 < 803 ? 0 : 1),
  },
  'a deployment of both replicas': {
    [`process_start_time_seconds${of('a')}`]: (minute) =>
      minute % 1440 < 900 ? -36_000 : Math.floor(minute / 1440) * 86_400 + 54_000,
  },
  'a stranger with a forged and four unsigned requests at night': {
    [`deckhand_requests_refused_total{reason="wrong",${A}}`]: steps([180]),
    [`deckhand_requests_refused_total{reason="missing",${A}}`]: steps([180, 181, 182, 183]),
  },
  'three rate limits on Monday morning': {
    [`${SLACK}_count{method="chat.postMessage",outcome="busy",${A}}`]: steps([540, 540, 541]),
  },
  'three lost answers of Slack and of the service': {
    [`${SLACK}_count{method="chat.postMessage",outcome="unreachable",${A}}`]: steps([640, 641, 650]),
    [`${SERVICE}_count{operation="getProject",outcome="unreachable",${A}}`]: steps([640, 641, 650]),
    [`${SERVICE}_bucket{le="5",operation="getProject",outcome="unreachable",${A}}`]: steps([640, 641, 650]),
  },
  'two slow answers of the service': dips(
    `${SERVICE}_bucket{le="5",operation="getProject",outcome="ok",${A}}`,
    60,
    [660, 661],
  ),
};

/** A counter with a step at these minutes of each day. */
function steps(minutes: readonly number[]) {
  return (minute: number): number =>
    Math.floor(minute / 1440) * minutes.length + minutes.filter((one) => one <= minute % 1440).length;
}

/** A counter by traffic that misses a step at these minutes of each day. */
function dips(name: string, anHour: number, minutes: readonly number[]): Series {
  return { [name]: (minute) => busyBy(anHour)(minute) - steps(minutes)(minute) };
}

/** Requests come from 8 to 18 only. */
function busyBy(anHour: number) {
  return (minute: number): number => {
    const today = Math.min(Math.max(0, (minute % 1440) - 480), 600);
    return Math.floor((Math.floor(minute / 1440) * 600 + today) * (anHour / 60));
  };
}

function quietDays(): Series {
  const base = Object.entries(healthy(60)).map(([name, value]) => {
    const isTraffic = value(600) === 600;
    return [name, isTraffic ? busyBy(60) : value] as const;
  });
  return Object.assign(Object.fromEntries(base), ...Object.values(SMALL)) as Series;
}

function toInput(series: Series, minutes: number) {
  return Object.entries(series).map(([name, value]) => ({
    series: name,
    values: Array.from({ length: minutes + 1 }, (_, minute) => value(minute) ?? '_').join(' '),
  }));
}

/** Minutes from the fault to the first sample of each alert that fires. */
const FIRST = `min by (alertname) (min_over_time(timestamp(ALERTS{alertstate="firing"})[${END}m:1m])) / 60 - ${BEGIN}`;

async function runPromtool(tests: readonly object[]): Promise<string> {
  const file = join(await temporaryFolder(), 'alerts.test.yml');
  await writeFile(
    file,
    stringify({ rule_files: [rules], evaluation_interval: '1m', tests }, { lineWidth: 0 }),
  );
  const { stdout, stderr, status } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? 'SUCCESS' : `${stdout}${stderr}`;
}

it.skipIf(!hasPromtool)(
  'each fault fires its alerts, and no other, after so many minutes',
  async () => {
    const tests = Object.entries(FAULTS).flatMap(([name, { series, fires }]) => {
      // A fault at which traffic plays no part is tried once.
      const isAlike = Object.values(fires).every(({ length }) => length === 1);
      return (isAlike ? [0] : TRIED).map((index) => {
        const anHour = TRAFFIC[index] ?? 0;
        const samples = Object.entries(fires)
          .map(([alertname, minutes]) => ({
            labels: `{alertname="${alertname}"}`,
            value: minutes[index] ?? minutes[0],
          }))
          .filter(({ value }) => value !== NEVER);
        return {
          name: `${name}, ${anHour} requests an hour`,
          interval: '1m',
          input_series: toInput({ ...healthy(anHour), ...series(anHour) }, END),
          promql_expr_test: [{ expr: FIRST, eval_time: `${END}m`, exp_samples: samples }],
        };
      });
    });
    expect(await runPromtool(tests)).toBe('SUCCESS');
  },
  300_000,
);

it.skipIf(!hasPromtool)(
  'nothing fires on quiet days with small troubles',
  async () => {
    const days = byLength(1, 30);
    const minutes = days * 1440;
    const test = {
      interval: '1m',
      input_series: toInput(quietDays(), minutes),
      promql_expr_test: [
        {
          expr: `sum by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${days}d]))`,
          eval_time: `${minutes}m`,
          exp_samples: [],
        },
      ],
    };
    expect(await runPromtool([test])).toBe('SUCCESS');
  },
  byLength(300_000, 1_800_000),
);

it('each rule has a fault here or in metrics.test.ts', () => {
  const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string() })) })) });
  const { groups } = Rules.parse(parse(readFileSync(rules, 'utf8')));
  const alerts = groups.flatMap((group) => group.rules.map(({ alert }) => alert));
  const elsewhere = readFileSync(join(import.meta.dirname, 'metrics.test.ts'), 'utf8');
  const tried = Object.values(FAULTS).flatMap(({ fires }) => Object.keys(fires));
  expect(alerts.filter((alert) => !tried.includes(alert) && !elsewhere.includes(`${alert}:`))).toEqual([]);
});

it('the table of faults in operations.md names minutes, alerts and events as they are', () => {
  const docs = join(import.meta.dirname, '..', '..', 'docs');
  const [, table = ''] =
    /\| fault \| alert \|.*?\n((?:\|.*\n)+)/.exec(readFileSync(join(docs, 'operations.md'), 'utf8')) ?? [];
  const rows = table
    .trim()
    .split('\n')
    .slice(1)
    .map((row) => row.split('|').slice(1, -1));
  const codes = (cell = '') => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word);
  const events = codes(readFileSync(join(docs, 'log-events.md'), 'utf8'));
  const tried = Object.values(FAULTS).flatMap(({ fires }) => Object.entries(fires));
  expect(rows.length).toBeGreaterThan(16);
  for (const [fault = '', alerts, minutes = '', event] of rows) {
    expect(events, fault).toEqual(expect.arrayContaining(codes(event)));
    for (const alert of codes(alerts)) {
      const times = tried.filter(([name]) => name === alert).map(([, each]) => each.join(', '));
      if (!minutes.includes('after'))
        expect([minutes.trim(), ...minutes.trim().split(', ')], fault).toContain(times[0]);
    }
  }
});
