import { z } from 'zod';
import { findHostedResource, found, getAccount } from '../find.ts';
import { addHostedResource } from '../hosting.ts';
import { NewHostedResource, NewInvoice } from '../inputs.ts';
import { addInvoice, payInvoice } from '../invoices.ts';
import { operation } from './operation.ts';

const account = z.string();
const ResourceStatus = z.enum(['provisioning', 'active', 'suspended', 'error', 'destroying']);

/** Managed hosting and invoices. */
export const hostingAndBillingOperations = {
  addHostedResource: operation(
    NewHostedResource.extend({ account }),
    (world, { account: name, ...resource }) => addHostedResource(world, getAccount(world, name), resource),
  ),
  /** What the hosting provider will say at the next sync. */
  setProviderState: operation(
    z.strictObject({
      account,
      resource: z.string(),
      status: ResourceStatus.optional(),
      ipAddress: z.string().nullable().optional(),
    }),
    (world, { account: name, resource: identifier, status, ipAddress }) => {
      const resource = found(findHostedResource(getAccount(world, name), identifier), 'resource', identifier);
      if (status !== undefined) resource.provider.status = status;
      if (ipAddress !== undefined) resource.provider.ipAddress = ipAddress;
    },
  ),
  /** How provisioning ends from now on, also where it is under way, and how long it takes if not begun. */
  setProvisioning: operation(
    z.strictObject({
      account,
      protocol: z.enum(['static_hosting', 'managed_vps']),
      status: z.enum(['active', 'suspended', 'disabled', 'error', 'destroying']).default('active'),
      durationMs: z.number().min(0).optional(),
    }),
    (world, { account: name, protocol, status, durationMs }) => {
      const plan = getAccount(world, name).provisioning[protocol];
      plan.status = status;
      if (durationMs !== undefined) plan.durationMs = durationMs;
    },
  ),
  addInvoice: operation(NewInvoice.extend({ account }), (world, { account: name, ...invoice }) =>
    addInvoice(world, getAccount(world, name), invoice),
  ),
  /** Marks an invoice as paid now. */
  payInvoice: operation(
    z.strictObject({ account, number: z.number().int() }),
    (world, { account: name, number }) => payInvoice(world, getAccount(world, name), number),
  ),
};
