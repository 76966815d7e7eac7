import type { Datepicker, DateTimepicker, Timepicker } from '@slack/types';
import type { ReactNode } from 'react';
import { type ElementProps, fieldAttributes, useElement } from './use-element.ts';

/** The first year that cannot be one still being typed (2, 20, 202, 2026). */
const FIRST_WHOLE_YEAR = 1000;

export function DatepickerElement(props: ElementProps<Datepicker>): ReactNode {
  const { value, keep, set } = useElement(props);
  return (
    <input
      {...fieldAttributes(props.field, props.element.placeholder?.text ?? 'Date')}
      type="date"
      className="input input-short"
      value={String(value.selected_date ?? '')}
      onChange={({ target }) => {
        const next = { selected_date: target.value === '' ? null : target.value };
        if (Number(target.value.slice(0, 4)) < FIRST_WHOLE_YEAR) keep(next);
        else set(next);
      }}
    />
  );
}

export function TimepickerElement(props: ElementProps<Timepicker>): ReactNode {
  const { value, set } = useElement(props);
  const { element, field } = props;
  return (
    <span className="input-row">
      <input
        {...fieldAttributes(field, element.placeholder?.text ?? 'Time')}
        type="time"
        className="input input-short"
        value={String(value.selected_time ?? '')}
        onChange={({ target }) => set({ selected_time: target.value === '' ? null : target.value })}
      />
      {element.timezone && <span className="input-note">{element.timezone.replaceAll('_', ' ')}</span>}
    </span>
  );
}

/** Slack keeps whole seconds since the epoch; the control speaks the reader's own time. */
export function DateTimepickerElement(props: ElementProps<DateTimepicker>): ReactNode {
  const { value, keep, set } = useElement(props);
  const seconds = typeof value.selected_date_time === 'number' ? value.selected_date_time : undefined;
  return (
    <input
      {...fieldAttributes(props.field, 'Date and time')}
      type="datetime-local"
      className="input input-short"
      value={seconds === undefined ? '' : toLocal(seconds)}
      onChange={({ target }) => {
        const picked = new Date(target.value);
        const next = { selected_date_time: target.value === '' ? null : Math.floor(picked.getTime() / 1000) };
        if (picked.getFullYear() < FIRST_WHOLE_YEAR) keep(next);
        else set(next);
      }}
    />
  );
}

function toLocal(seconds: number): string {
  const date = new Date(seconds * 1000);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
