/** People of the demo. Their keys open nothing but a simulated service on the same machine. */
export const DEMO_USERS = {
  admin: {
    email: 'ada@acme.example.com',
    apiKey: 'demo-admin-key-0000000000000000000000001',
    firstName: 'Ada',
    lastName: 'Winter',
    role: 'admin',
  },
} as const;
