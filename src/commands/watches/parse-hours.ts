import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { WorkingHours } from '../../workspace/watches.ts';

const RANGE = /^(\d{1,2})(?:[:.](\d{2}))?(am|pm)?(?:-|to)(\d{1,2})(?:[:.](\d{2}))?(am|pm)?$/;

/**
 * `9-18`, and what people type for it: `09:00-18:00`, `9 to 18`, `9am-6pm`, `22-6` for a night. Pure.
 * @throws UserError
 */
export function readHours(typed: string): Pick<WorkingHours, 'from' | 'to'> {
  const text = typed
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-');
  const [, fromHour, fromMinute, fromHalf, toHour, toMinute, toHalf] = RANGE.exec(text) ?? [];
  const from = timeOf(fromHour, fromMinute, fromHalf);
  const to = timeOf(toHour, toMinute, toHalf);
  if (from === undefined || to === undefined || from === '24:00' || from === to)
    throw new UserError(`${code(typed, 40)} are no working hours. Give them as \`9-18\` or \`08:30-17:00\`.`);
  return { from, to };
}

/** As `09:00`; undefined where the clock has no such time. */
function timeOf(
  hour: string | undefined,
  minute: string | undefined = '0',
  half: string | undefined,
): string | undefined {
  if (hour === undefined) return undefined;
  const shift = half === 'pm' ? 12 : 0;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + shift;
  const minutes = Number(minute);
  const isHalf = half === undefined || (Number(hour) >= 1 && Number(hour) <= 12);
  if (!isHalf || minutes > 59 || hours * 60 + minutes > 24 * 60) return undefined;
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');
}
