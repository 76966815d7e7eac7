import { describe, expect, it } from 'vitest';
import type { Message } from '../../../slack/web/src/api/types.ts';
import { type Change, reduce } from '../../../slack/web/src/state/reducer.ts';
import { emptyState, type State } from '../../../slack/web/src/state/state.ts';

const said = (ts: string, text = ts): Message => ({ ts, user: 'U1', text });
const stateAfter = (...changes: Change[]): State => changes.reduce(reduce, emptyState);
const arrive = (ts: string, channel = 'C1'): Change => ({ type: 'message', channel, message: said(ts) });

describe('what the page knows', () => {
  it('keeps messages in the order they were said, however they arrive', () => {
    const state = stateAfter(arrive('1.2'), arrive('1.1'), arrive('1.3'));
    expect(state.messages.C1?.map(({ ts }) => ts)).toEqual(['1.1', '1.2', '1.3']);
  });

  it('replaces a changed message in place, and neither counts nor announces it again', () => {
    const before = stateAfter(arrive('1.1'), arrive('1.2'));
    const state = reduce(before, { type: 'message', channel: 'C1', message: said('1.1', 'changed') });
    expect(state.messages.C1?.map(({ text }) => text)).toEqual(['changed', '1.2']);
    expect(state.unread).toEqual({ C1: 2 });
    expect(state.news?.message.ts).toBe('1.2');
  });

  it('counts what is unread where one is not looking, until one looks', () => {
    const state = stateAfter({ type: 'opened', channel: 'C1' }, arrive('1.1'), arrive('1.1', 'C2'));
    expect(state.unread).toEqual({ C1: 0, C2: 1 });
    expect(reduce(state, { type: 'opened', channel: 'C2' }).unread.C2).toBe(0);
    const reply = { ...said('1.2'), thread_ts: '1.1' };
    expect(reduce(state, { type: 'message', channel: 'C2', message: reply }).unread.C2).toBe(1);
  });

  it('forgets everything of one person when another looks, but not the workspaces', () => {
    const workspace = {
      teams: [{ id: 'T1', name: 'Acme', domain: 'acme', users: [], channels: [], apps: [], commands: [] }],
    };
    const state = stateAfter({ type: 'loaded', workspace }, arrive('1.1'), { type: 'other_eyes' });
    expect(state).toEqual({ ...emptyState, teams: workspace.teams });
  });

  it('takes the end of a delivery for its beginning, and keeps the latest 200', () => {
    const delivery = (id: string, status: number | null): Change => ({
      type: 'delivery',
      delivery: { id, at: 0, kind: 'command', name: '/x', status, ack_ms: null, attempt: 1, payload: {} },
    });
    expect(
      stateAfter(delivery('1', null), delivery('1', 200)).deliveries.map(({ status }) => status),
    ).toEqual([200]);
    const many = stateAfter(...Array.from({ length: 205 }, (_, index) => delivery(String(index), 200)));
    expect(many.deliveries).toHaveLength(200);
    expect(many.deliveries.at(-1)?.id).toBe('204');
  });
});
