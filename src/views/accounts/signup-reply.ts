import type { KnownBlock, Message } from '../../core/message.ts';
import { bold, code, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { buttons, context, linkButton, say, section } from '../blocks/message.ts';
import { maskedKey } from './accounts.ts';

/** The result of a sign-up as it is shown: of the key, only its last characters. */
export interface SignedUp {
  /** The account's name in its address, and for people. */
  account: string;
  displayName: string;
  /** The account’s own address, by our configuration. */
  url: string;
  email: string;
  keyTail: string;
  isVerified: boolean;
  deployKey: DeployKey | undefined;
  /** The pages that authorise repository providers, by provider. */
  oauthUrls: Record<string, string>;
  word: string;
}

export interface DeployKey {
  publicKey: string;
  fingerprint: string;
}

/** Providers with a button; the service names a handful. */
const MAX_PROVIDERS = 10;

/** Only for the person who signed up. API 2.2 and 5.1 (docs/service-api.md). */
export function signedUpMessage(view: SignedUp): Message {
  const { account, displayName, url, keyTail, email, isVerified, word } = view;
  const said = `:tada: The account ${bold(displayName)} (${code(account)}) is created at <${url}> and connected, with the key ${code(maskedKey(keyTail))}.`;
  const next = isVerified
    ? `Next: ${code(`${word} projects`)}.`
    : `:email: *Verify your e-mail address first:* follow the link sent to ${mrkdwn(email, 200)}. Until then commands cannot use the account. Deckhand checks for 7 days, and sends you a direct message once it works.`;
  return {
    text: `${said} ${next}`,
    blocks: [
      section(said),
      section(next),
      ...deployKeyBlocks(view.deployKey),
      ...providerBlocks(view.oauthUrls),
      section(
        '*Settings for a tool client.* Replace the dots with the whole key, from the account’s security or API settings.',
      ),
      preformatted(JSON.stringify({ account, api_key: maskedKey(keyTail), email }, null, 2)),
    ],
  };
}

/** The key works from now on; the deploy key is shown again, because private messages do not last. */
export function verifiedMessage(account: string, deployKey: DeployKey | undefined, word: string): Message {
  const said = `:white_check_mark: The e-mail address of ${code(account)} is verified. The key works and deployments are unblocked. Next: ${code(`${word} projects`)}.`;
  return say(said, ...deployKeyBlocks(deployKey));
}

export function neverVerifiedMessage(account: string): Message {
  return say(
    `:hourglass: The e-mail address of ${code(account)} was not verified within 7 days, so Deckhand stopped checking. The account stays connected, and works once you follow the link in the verification e-mail.`,
  );
}

/** The service knows the key now, but refuses it for another reason; `reason` is mrkdwn. */
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
  const connect = Object.entries(oauthUrls)
    .map(([provider, address], at) =>
      linkButton(`Connect ${provider.replaceAll('_', ' ')}`, `link:open#${at}`, address),
    )
    .filter((one) => one !== undefined);
  if (connect.length === 0) return [];
  const said = '*Repository provider.* You can also connect a provider’s account in your browser:';
  return [section(said), ...buttons(...connect.slice(0, MAX_PROVIDERS))];
}

/** Text to be copied: without markup. Line breaks stay, other invisible characters do not. */
function preformatted(foreign: string): KnownBlock {
  const lines = foreign
    .split('\n')
    .map((line) => line.match(/^ */)?.[0] + sanitize(line, LIMITS.sectionText));
  return {
    type: 'rich_text',
    elements: [
      { type: 'rich_text_preformatted', elements: [{ type: 'text', text: lines.join('\n').trim() || '—' }] },
    ],
  };
}
