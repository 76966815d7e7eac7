import { DEMO_USERS } from '../service/seed/demo-facts.ts';

const { account, email, apiKey } = DEMO_USERS.admin;

/** What the demo's forms can be filled with; shown where they ask for it. */
export const DEMO_SAMPLES = {
  connect: [
    { label: 'Account', value: account },
    { label: 'E-mail address', value: email },
    { label: 'API key', value: apiKey },
  ],
} as const;
