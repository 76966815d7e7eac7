import { z } from 'zod';
import { addAccount, addUser, resumeAccount, suspendAccount } from '../accounts.ts';
import { assignGiven } from '../assign-given.ts';
import { getAccount, getUser } from '../find.ts';
import { createApiKey } from '../ids.ts';
import { NewAccount, NewUser } from '../inputs.ts';
import { PERMISSIONS } from '../records.ts';
import { operation } from './operation.ts';

const InAccount = z.strictObject({ account: z.string() });
const OfUser = z.strictObject({ account: z.string(), email: z.string() });

/** Accounts, their users and keys. */
export const accountOperations = {
  addAccount: operation(NewAccount, (world, input) => addAccount(world, input)),
  addUser: operation(NewUser.extend({ account: z.string() }), (world, { account, ...user }) =>
    addUser(world, getAccount(world, account), user),
  ),
  /** Changes what is given. */
  updateAccount: operation(
    z.strictObject({
      account: z.string(),
      apiAccess: z.boolean().optional(),
      betaFeatures: z.boolean().optional(),
      zone: z.string().optional(),
      workers: z.number().int().positive().optional(),
      managedServerLimit: z.number().int().min(0).optional(),
      provisioningLimit: z.number().int().min(0).optional(),
      /** Which properties an integration must have. */
      integrationRules: z.enum(['usual', 'documented']).optional(),
    }),
    (world, { account, ...changes }) => assignGiven(getAccount(world, account), changes),
  ),
  /** Changes what is given. */
  updateUser: operation(
    z.strictObject({
      account: z.string(),
      email: z.string(),
      role: z.enum(['admin', 'member']).optional(),
      billing: z.boolean().optional(),
      verified: z.boolean().optional(),
      permissions: z.array(z.enum(PERMISSIONS)).optional(),
      /** Permalinks; null for all projects. */
      projects: z.array(z.string()).nullable().optional(),
    }),
    (world, { account, email, projects, ...changes }) => {
      const user = getUser(getAccount(world, account), email);
      if (projects !== undefined) user.projects = projects ?? undefined;
      return assignGiven(user, changes);
    },
  ),
  suspendAccount: operation(InAccount, (world, { account }) => suspendAccount(world, account)),
  resumeAccount: operation(InAccount, (world, { account }) => resumeAccount(world, account)),
  removeAccount: operation(InAccount, (world, { account }) => world.accounts.delete(account)),
  /** From now on the key gets 401. */
  revokeKey: operation(OfUser, (world, { account, email }) => {
    getUser(getAccount(world, account), email).apiKey = undefined;
  }),
  /** Gives the user another key and returns it; the old one gets 401. */
  rotateKey: operation(OfUser, (world, { account, email }) => {
    const apiKey = createApiKey();
    getUser(getAccount(world, account), email).apiKey = apiKey;
    return apiKey;
  }),
};
