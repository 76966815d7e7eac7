import { z } from 'zod';
import { richText } from './rich-text.ts';
import { anyLength, id } from './texts.ts';

const source = z.strictObject({ type: z.literal('url'), url: z.url(), text: anyLength });

/** One task of a plan, or by itself; nothing in it can be clicked but its sources. */
export const taskCard = z.strictObject({
  type: z.literal('task_card'),
  block_id: id.optional(),
  task_id: z.string().min(1),
  title: z.string().min(1),
  status: z.enum(['pending', 'in_progress', 'complete', 'error']),
  details: richText.optional(),
  output: richText.optional(),
  sources: z.array(source).optional(),
});

export const plan = z
  .strictObject({
    type: z.literal('plan'),
    block_id: id.optional(),
    title: z.string().min(1),
    tasks: z.array(taskCard).optional(),
  })
  .refine(
    ({ tasks = [] }) => new Set(tasks.map(({ task_id }) => task_id)).size === tasks.length,
    'each `task_id` must be another one',
  );
