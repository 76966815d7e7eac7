import { describe, expect, it } from 'vitest';
import type { Digest } from '../../../src/records/schedules.ts';
import { type AccountReport, digestMessage } from '../../../src/views/digests/digest.ts';
import { DIGEST } from '../records.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');

describe('the message of a digest', () => {
  const shown: Digest = { ...DIGEST, createdAt: NOW };

  it('shows null as an em dash and what is missing as n/a, and says what the deltas compare with', () => {
    const activity = {
      events: [],
      stats: {
        total_deployments: 3,
        total_deployments_delta: undefined,
        success_rate: null,
        success_rate_delta: null,
      },
    };
    const data = { title: 'acme', zone: 'UTC', bars: [], isTruncated: false };
    const { blocks, text } = digestMessage({ digest: shown }, [
      { kind: 'reported', account: 'acme', activity, data } as AccountReport,
    ]);
    const said = JSON.stringify(blocks);
    expect(said).toContain('*Deployments*\\n3  n/a');
    expect(said).toContain('*Success rate*\\n—  —');
    expect(said).toContain('*Active servers now*\\nn/a');
    expect(said).toContain('▲ ▼ against the same part of last week');
    expect(text).toBe('Deployment digest, this week. `acme`: 3 deployments');
  });

  it('carries its buttons, and a preview none', () => {
    const actions = (isPreview: boolean) =>
      digestMessage({ digest: shown, isPreview }, []).blocks.flatMap((block) =>
        block.type === 'actions' ? block.elements.map((one) => ('text' in one ? one.text?.text : '')) : [],
      );
    expect(actions(false)).toEqual(['Snooze a week', 'Pause', 'Preview']);
    expect(actions(true)).toEqual([]);
  });
});
