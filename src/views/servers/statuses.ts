import { code } from '../../core/mrkdwn.ts';

/** The states of a hosted resource and a managed server, with their meanings (API 3.1, docs/service-api.md). */
const STATUSES: Readonly<Record<string, { icon: string; meaning: string }>> = {
  provisioning: { icon: ':hourglass_flowing_sand:', meaning: 'being created' },
  active: { icon: ':white_check_mark:', meaning: 'running and ready for deployments' },
  suspended: { icon: ':double_vertical_bar:', meaning: 'powered off, because the account is suspended' },
  disabled: { icon: ':no_entry_sign:', meaning: 'switched off' },
  error: { icon: ':x:', meaning: 'something failed while it was created or refreshed' },
  destroying: { icon: ':wastebasket:', meaning: 'being destroyed' },
};

/** "active: running and ready…", in mrkdwn; an unknown status is shown as it is. */
export function statusWords(status: string): string {
  const known = knownStatus(status);
  return known === undefined ? code(status, 60) : `*${status}*: ${known.meaning}`;
}

export function statusIcon(status: string): string {
  return knownStatus(status)?.icon ?? ':grey_question:';
}

function knownStatus(status: string): { icon: string; meaning: string } | undefined {
  return Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
}
