/** Hours and minutes as typed, by a clock of 24 hours or, with `am` or `pm`, of 12; either may be more than there are. */
export function readClock(hour: string, minute = '0', half?: string): [hours: number, minutes: number] {
  const shift = half?.toLowerCase() === 'pm' ? 12 : 0;
  return [half === undefined ? Number(hour) : (Number(hour) % 12) + shift, Number(minute)];
}

/** As `09:00`. */
export function asTime(hours: number, minutes: number): string {
  return [hours, minutes].map((part) => String(part).padStart(2, '0')).join(':');
}
