import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, mrkdwn, plain } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { safeUrl } from '../blocks/links.ts';
import { type ButtonSpec, buttons, context, say, section } from '../blocks/message.ts';
import { maskedKey } from './accounts.ts';

/** What a sign-up brought, as far as it is ever shown: of the key only its tail. */
export interface SignedUp {
  /** The account's name in its address, and for people. */
  account: string;
  displayName: string;
  email: string;
  keyTail: string;
  isVerified: boolean;
  deployKey: DeployKey | undefined;
  /** Where repository providers are authorised, by provider. */
  oauthUrls: Record<string, string>;
  word: string;
}

export interface DeployKey {
  publicKey: string;
  fingerprint: string;
}

/** Providers with a button; the service names a handful. */
const MOST_PROVIDERS = 10;

/** For the person who signed up alone. Spec 2.2, 5.1.6. */
export function signedUpMessage(view: SignedUp): Message {
  const { account, displayName, keyTail, email, isVerified, word } = view;
  const said = `:tada: The account ${bold(displayName)} (${code(account)}) is created and connected, with the key ${code(maskedKey(keyTail))}.`;
  const next = isVerified
    ? `Next: ${code(`${word} projects`)}.`
    : `:email: *Verify your e-mail address first:* follow the link sent to ${mrkdwn(email, 200)}. Until then the key answers 401, so commands wait for it too. I look now and then for 7 days, and tell you by direct message once it works.`;
  return {
    text: `${said} ${next}`,
    blocks: [
      section(said),
      section(next),
      ...deployKeyBlocks(view.deployKey),
      ...providerBlocks(view.oauthUrls),
      section(
        '*Settings for a tool client.* Put the whole key in place of the dots; it stands in the account’s security or API settings.',
      ),
      preformatted(JSON.stringify({ account, api_key: maskedKey(keyTail), email }, null, 2)),
    ],
  };
}

/** The key works from now on; the deploy key is told once more, because a private message is soon gone. */
export function verifiedMessage(account: string, deployKey: DeployKey | undefined, word: string): Message {
  const said = `:white_check_mark: The e-mail address of ${code(account)} is verified: the key works, and deployments are unblocked. Next: ${code(`${word} projects`)}.`;
  return say(said, ...deployKeyBlocks(deployKey));
}

export function neverVerifiedMessage(account: string): Message {
  return say(
    `:hourglass: The e-mail address of ${code(account)} was not verified within 7 days, so I stopped looking. The connection stays: follow the link in the verification e-mail, and it works.`,
  );
}

/** The key is known now, but the service refuses it for another reason; `reason` is mrkdwn. */
export function verifiedButRefusedMessage(account: string, reason: string): Message {
  return say(
    `:warning: The e-mail address of ${code(account)} seems to be verified, but the key is refused. ${reason}`,
  );
}

function deployKeyBlocks(key: DeployKey | undefined): KnownBlock[] {
  if (key === undefined) return [];
  return [
    section('*Deploy key.* Add this public key to your repository at its host:'),
    preformatted(key.publicKey),
    ...(key.fingerprint === '' ? [] : [context(`Fingerprint ${code(key.fingerprint, 200)}`)]),
  ];
}

function providerBlocks(oauthUrls: Record<string, string>): KnownBlock[] {
  const specs = Object.entries(oauthUrls).flatMap(([provider, address], at): ButtonSpec[] => {
    const url = safeUrl(address);
    return url === undefined ? [] : [{ label: providerName(provider), actionId: `link:open#${at}`, url }];
  });
  if (specs.length === 0) return [];
  const said = '*Repository provider.* Or connect a provider’s account in your browser:';
  return [section(said), ...buttons(...specs.slice(0, MOST_PROVIDERS))];
}

function providerName(provider: string): string {
  return `Connect ${provider.replaceAll('_', ' ')}`;
}

/** To be copied as it stands: no markup is read in it. Lines are kept, all else that is unseen is taken out. */
function preformatted(foreign: string): KnownBlock {
  const lines = foreign.split('\n').map((line) => line.match(/^ */)?.[0] + plain(line, LIMITS.sectionText));
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text: lines.join('\n').trim() || '—' }] },
    ],
  };
}
