/** Source files whose faults cost most, and the tests that may notice one of them. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  pipeline: ['src/listeners/pipeline/*.ts'],
  permissions: ['src/commands/permission.ts', 'src/workspace/slack-people.ts'],
  roles: ['src/workspace/roles.ts', 'src/commands/admin/roles.ts'],
  sealer: ['src/store/sealer.ts'],
  tenants: ['src/workspace/{workspace,installations}.ts', 'src/store/{store,documents}.ts'],
  receiver: ['src/listeners/receivers/*.ts'],
  inbox: ['src/listeners/inbox.ts'],
  runner: ['src/jobs/*.ts'],
  outbox: ['src/scheduler/deliver.ts', 'src/scheduler/schedules/outbox.ts'],
  schedules: ['src/scheduler/schedules/*.ts', 'src/records/schedules.ts'],
};

/** Tests that run Deckhand in their own process, where a fault is seen; each run reads which code they reach. */
export const TESTS: readonly string[] = [
  'test/{commands,core,errors,installing,jobs,linking,listeners,records,scheduler,security,service,slack,store,trust,workspace}/**/*.test.ts',
  'test/*.test.ts',
];
