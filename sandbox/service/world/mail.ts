import { createToken } from './ids.ts';
import type { User, World } from './records.ts';
import type { Mail } from './site-records.ts';

const DAY = 86_400_000;

/** Sends the link that verifies a user's address; it works for a day. Spec 6. */
export function sendVerification(world: World, account: string, email: string): Mail {
  const token = createToken();
  world.verifications.set(token, { account, email, expiresAt: world.clock.now() + DAY });
  const mail = {
    to: email,
    subject: 'Please verify your e-mail address',
    link: `${world.origin}/verify_email/${token}`,
    at: world.clock.now(),
  };
  world.outbox.push(mail);
  world.onMail?.(mail);
  return mail;
}

/** Follows a link; undefined when it is unknown or too old. From then on the key works. Spec 3.2. */
export function followVerification(world: World, token: string): User | undefined {
  const verification = world.verifications.get(token);
  if (verification === undefined || verification.expiresAt <= world.clock.now()) return undefined;
  const user = world.accounts
    .get(verification.account)
    ?.users.find((candidate) => candidate.email === verification.email);
  if (user !== undefined) user.verified = true;
  return user;
}
