import { count } from '../core/mrkdwn.ts';

/** A call of Deckhand that the service may describe. */
interface OwnCall {
  /** Method and path, with `{}` for each parameter. */
  operation: string;
  /** Fields that the API's outline calls required (docs/service-api.md). Deckhand always sends them. */
  required?: readonly string[];
  /** Other fields that Deckhand always sends. */
  sent?: readonly string[];
}

const OWN_CALLS: readonly OwnCall[] = [
  {
    operation: 'POST /api/v1/signup',
    required: ['email', 'password', 'terms_accepted'],
    sent: ['package', 'signup_source', 'client'],
  },
  { operation: 'POST /beta/enrollments' },
  { operation: 'GET /profile' },
  { operation: 'GET /projects' },
  { operation: 'POST /projects/{}/servers', sent: ['server.name', 'server.protocol_type'] },
  { operation: 'GET /projects/{}/servers/{}' },
  { operation: 'GET /hosted_resources' },
  { operation: 'GET /hosted_resources/{}' },
  { operation: 'POST /hosted_resources/{}/sync' },
  { operation: 'GET /managed_hosting/regions' },
  { operation: 'GET /managed_hosting/sizes' },
  { operation: 'POST /projects/{}/test_access' },
  { operation: 'POST /projects/{}/servers/{}/test_access' },
  { operation: 'GET /projects/{}/test_access/{}' },
  { operation: 'GET /projects/{}/build_configurations/{}' },
  { operation: 'POST /projects/{}/integrations', required: ['integration.hook_type', 'integration.name'] },
  { operation: 'PATCH /projects/{}/integrations/{}', sent: ['integration'] },
  { operation: 'GET /activity' },
  { operation: 'GET /account/invoices' },
  { operation: 'GET /account/invoices/{}.pdf' },
];

const DEPLOYMENTS = ['GET /projects/{}/deployments', 'GET /projects/{}/deployments/{}'] as const;

/**
 * Features that a service may offer beyond the API's outline. All operations of a feature have to be listed. An operation with a field is
 * listed if its body may have the field. `name` is for people.
 */
const CAPABILITIES = {
  steps: { name: 'steps of deployments', operations: DEPLOYMENTS },
  logs: {
    name: 'logs of steps',
    operations: [...DEPLOYMENTS, 'GET /projects/{}/deployments/{}/steps/{}/logs'],
  },
  waiting: { name: 'commits that wait', operations: ['GET /projects/{}/undeployed_changes'] },
  integrations: { name: 'lists of integrations', operations: ['GET /projects/{}/integrations'] },
  integration: { name: 'single integrations', operations: ['GET /projects/{}/integrations/{}'] },
  removal: { name: 'removal of integrations', operations: ['DELETE /projects/{}/integrations/{}'] },
  checks: {
    name: 'notices of failed checks',
    operations: [
      'POST /projects/{}/integrations integration.send_on_check_failed',
      'PATCH /projects/{}/integrations/{} integration.send_on_check_failed',
    ],
  },
  retry: {
    name: 'another try for managed servers',
    operations: ['POST /hosted_resources/{}/retry_provision'],
  },
  billing: { name: 'status of billing', operations: ['GET /account/billing_status'] },
} as const satisfies Record<string, { name: string; operations: readonly string[] }>;

export type Capability = keyof typeof CAPABILITIES;
/** An operation that Deckhand calls only if the description lists it. */
export type OfferedOperation = (typeof CAPABILITIES)[Capability]['operations'][number];

/** Every operation that is looked up in the service's description. */
export const OPERATIONS: ReadonlySet<string> = new Set([
  ...OWN_CALLS.map(({ operation }) => operation),
  ...Object.values(CAPABILITIES).flatMap(({ operations }) => operations),
]);

/** An optional field in the body of a call. */
export interface ExtraField {
  operation: string;
  /** Name of the object around the field. */
  wrapper: string;
  name: string;
  /** Key of the field among the operations. */
  key: string;
}

/** Optional fields that are looked up in the service's description. */
export const EXTRA_FIELDS: readonly ExtraField[] = [...OPERATIONS].flatMap((key) => {
  const [, operation, wrapper, name] = /^(\S+ \S+) (\w+)\.(\w+)$/.exec(key) ?? [];
  if (operation === undefined || wrapper === undefined || name === undefined) return [];
  return [{ operation, wrapper, name, key }];
});

/** Required fields by described operation. A described extra field is an entry without any. */
export type Described = Readonly<Record<string, readonly string[]>>;

/** True if the description lists all operations of a capability. */
export function isDescribed(described: Described, capability: Capability): boolean {
  return listOperations(capability).every((operation) => Object.hasOwn(described, operation));
}

/** The names of the capabilities whose operations are all described. */
export function listCapabilities(described: Described): string[] {
  const rows = Object.entries(CAPABILITIES) as Array<[Capability, (typeof CAPABILITIES)[Capability]]>;
  return rows.filter(([capability]) => isDescribed(described, capability)).map(([, { name }]) => name);
}

export function listOperations(capability: Capability): readonly OfferedOperation[] {
  return CAPABILITIES[capability].operations;
}

interface Drift {
  /** Changes that need a new Deckhand, a sentence each. */
  changes: string[];
  /** Calls that no description listed. They may still work. */
  undescribed: number;
  /** Fields that the outline requires, and the description does not. */
  unrequired: number;
}

/** Longest list of changes that people read. */
const MAX_CHANGES = 20;

/** Compares Deckhand's calls with the description. @param earlier operations that an earlier description listed */
export function findDrift(described: Described, earlier: readonly string[]): Drift {
  const changes: string[] = [];
  const drift: Drift = { changes, undescribed: 0, unrequired: 0 };
  for (const { operation, required = [], sent = [] } of OWN_CALLS) {
    const fields = Object.hasOwn(described, operation) ? described[operation] : undefined;
    if (fields === undefined) {
      if (earlier.includes(operation)) changes.push(`${operation} is no longer in the description.`);
      else drift.undescribed += 1;
      continue;
    }
    const unsent = fields.filter((field) => !isSent(field, [...required, ...sent]));
    changes.push(
      ...unsent.map((field) => `${operation} requires ${field}, which Deckhand does not always send.`),
    );
    drift.unrequired += required.filter((field) => !fields.includes(field)).length;
  }
  const more = changes.length - MAX_CHANGES;
  if (more > 0) changes.splice(MAX_CHANGES, more, `${more} more changes are not shown.`);
  return drift;
}

/** The differences that are no changes, as the end of a sentence. */
export function describeGaps({ undescribed, unrequired }: Drift): string {
  const gaps = [
    ...(undescribed > 0 ? [`${undescribed} of them`] : []),
    ...(unrequired > 0 ? [count(unrequired, 'required field')] : []),
  ];
  return gaps.length > 0 ? `, but leaves out ${gaps.join(' and ')}` : '';
}

/** A description may leave out the object around the fields, or name it as a field. */
function isSent(field: string, sent: readonly string[]): boolean {
  return sent.some((one) => one === field || one.startsWith(`${field}.`) || one.endsWith(`.${field}`));
}

/** The objects that a call puts around its fields. */
export function listWrappers(operation: string): string[] {
  const { required = [], sent = [] } = OWN_CALLS.find((call) => call.operation === operation) ?? {};
  return [...new Set([...required, ...sent].map((field) => field.split('.', 1)[0] ?? ''))];
}
