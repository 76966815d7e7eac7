import { z } from 'zod';
import { getAccount, getUser } from '../find.ts';
import { setIdentity } from '../identities.ts';
import { sendVerification } from '../mail.ts';
import { chooseWording, SIGNUP_WORDINGS, type SignupCondition } from '../signup-wordings.ts';
import { operation } from './operation.ts';

const CONDITIONS = Object.keys(SIGNUP_WORDINGS) as [SignupCondition, ...SignupCondition[]];

/** Signup, e-mail and the OAuth server. */
export const siteOperations = {
  /** Makes the identity service know a person, with or without an account. */
  setIdentity: operation(
    z.strictObject({
      email: z.string(),
      password: z.string(),
      twoFactor: z.boolean().default(false),
    }),
    (world, { email, password, twoFactor }) => setIdentity(world, email, password, twoFactor),
  ),
  /** Verifies a user's e-mail without its link. */
  verifyEmail: operation(
    z.strictObject({ account: z.string(), email: z.string() }),
    (world, { account, email }) => {
      getUser(getAccount(world, account), email).verified = true;
    },
  ),
  /** Sends a fresh link and returns the e-mail. */
  sendVerification: operation(
    z.strictObject({ account: z.string(), email: z.string() }),
    (world, { account, email }) => sendVerification(world, account, email),
  ),
  setBillingAvailable: operation(z.strictObject({ available: z.boolean() }), (world, { available }) => {
    world.billingAvailable = available;
  }),
  /** In which words a refused sign-up says why from now on; see `signup-wordings.ts`. */
  setSignupWording: operation(
    z.strictObject({ condition: z.enum(CONDITIONS), wording: z.string() }),
    (world, { condition, wording }) => chooseWording(world.signupWordings, condition, wording),
  ),
  banIp: operation(z.strictObject({ ip: z.string() }), (world, { ip }) => {
    world.bannedIps.add(ip);
  }),
  /** Forgets all attempts to sign up. */
  resetSignupLimits: operation(z.strictObject({}), (world) => world.signupAttempts.clear()),
  /** Whether callbacks carry `iss` from now on. */
  setOauthIss: operation(z.strictObject({ on: z.boolean() }), (world, { on }) => {
    world.oauthIss = on;
  }),
  /** What `/docs.json` shows from now on. */
  setDescription: operation(
    z.strictObject({ description: z.enum(['published', 'whole', 'none']) }),
    (world, { description }) => {
      world.description = description;
    },
  ),
  addOauthClient: operation(
    z.strictObject({
      id: z.string(),
      secret: z.string(),
      name: z.string().default('Deckhand'),
      redirectUris: z.array(z.url()),
    }),
    (world, client) => {
      world.clients.set(client.id, client);
    },
  ),
};
