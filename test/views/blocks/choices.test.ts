import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import { menu, menuTarget, selectInput } from '../../../src/views/blocks/inputs.ts';
import { modal, refill } from '../../../src/views/blocks/modal.ts';
import { chooseProjectMessage } from '../../../src/views/projects/projects.ts';
import { expectAccepted } from '../../support/accepted.ts';
import { hostileText } from '../../support/hostile.ts';

const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
const place = fc.record({ account: key, project: key, run: hostileText });

describe('menus in messages', () => {
  it('come back with the place they stand for, or are left out where Slack has no room for it', () => {
    fc.assert(
      fc.property(place, (random) => {
        const [block] = menu({ actionId: 'server', placeholder: 'Choose', target: random });
        if (block === undefined) expect(JSON.stringify(random).length).toBeGreaterThan(255 - 'about '.length);
        else expect(menuTarget(block.block_id ?? '')).toEqual(random);
      }),
    );
  });

  it.each(['run test', '', '{"account":"acme"}', 'about {"account":1}'])('know no place in %j', (blockId) => {
    expect(menuTarget(blockId)).toBeUndefined();
  });

  it.each([1, 100, 101, 1000])('ask for one of %i projects, and keep what was typed', (amount) => {
    const projects = Array.from({ length: amount }, (_, at) => ({
      name: '<!channel>'.repeat(50),
      permalink: `p-${at}`,
      identifier: `p-${at}`,
      last_deployed_at: null,
      starred: false,
    }));
    const { blocks } = chooseProjectMessage(projects, 'test --account acme');
    expect(checkMessageBlocks(blocks)).toEqual([]);
    expect(menuTarget(blocks[1]?.block_id ?? '')).toEqual({ run: 'test --account acme' });
    expect(JSON.stringify(blocks)).toContain(amount > 100 ? 'external_select' : 'static_select');
  });

  it('in a form hold more than a hundred choices, and keep the one that was chosen', () => {
    const choices = Array.from({ length: 250 }, (_, at) => ({ value: `size-${at}`, text: `Size ${at}` }));
    const form = modal('server.add', 'Add', { submit: 'Add' }, [selectInput('size', 'Size', { choices })]);
    expectAccepted(form);
    const text = JSON.stringify(form);
    for (const { value } of choices) expect(text).toContain(`"${value}"`);
    const [block] = refill(form, { size: 'size-249' }, []).blocks;
    expect(block).toMatchObject({ element: { initial_option: { value: 'size-249' } } });
  });

  it('ask for words where no permalink fits into a menu', () => {
    const permalink = 'x'.repeat(151);
    const odd = { name: 'Odd', permalink, identifier: permalink, last_deployed_at: null, starred: false };
    expect(checkMessageBlocks(chooseProjectMessage([odd], 'test').blocks)).toEqual([]);
  });
});
