import type { Message } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { type ButtonSpec, buttons, context, section } from '../blocks/message.ts';

export interface StartView {
  word: string;
  accounts: ReadonlyArray<{ name: string; state: string }>;
  channel: { project?: { permalink: string; name: string } | undefined };
  isAdmin: boolean;
  /** Whether the service's sign-up is configured. */
  canSignUp: boolean;
}

/** What to do next here, by what is set up already. */
export function startMessage(view: StartView): Message {
  const { said, buttonSpecs } = nextStep(view);
  return {
    text: said,
    blocks: [
      section(said),
      ...buttons(...buttonSpecs),
      context(`${code(`${view.word} help`)} shows everything there is.`),
    ],
  };
}

function nextStep(view: StartView): { said: string; buttonSpecs: ButtonSpec[] } {
  const { word, accounts, channel, isAdmin, canSignUp } = view;
  const unverified = accounts.length === 1 && accounts[0]?.state === 'unverified' ? accounts[0] : undefined;
  const broken = accounts.find((account) => account.state === 'broken');
  if (accounts.length === 0 && isAdmin)
    return {
      said: ':wave: Nothing is connected yet. Connect an account of your deployment service to begin.',
      buttonSpecs: [
        { label: 'Connect an account', actionId: 'connect:open', style: 'primary', value: {} },
        ...(canSignUp ? [{ label: 'Create an account', actionId: 'signup:open' }] : []),
      ],
    };
  if (accounts.length === 0)
    return {
      said: `:wave: Nothing is connected yet. Ask an admin to run ${code(`${word} connect`)}.`,
      buttonSpecs: [],
    };
  if (broken !== undefined)
    return {
      said: `:warning: The key of ${code(broken.name)} was revoked or rotated. An admin can connect it again with ${code(`${word} connect ${broken.name}`)}.`,
      buttonSpecs: isAdmin
        ? [
            {
              label: 'Connect again',
              actionId: 'connect:open',
              style: 'primary',
              value: { account: broken.name },
            },
          ]
        : [],
    };
  if (unverified !== undefined)
    return {
      said: `:hourglass_flowing_sand: The account ${code(unverified.name)} waits for its e-mail address to be verified: follow the link in the verification e-mail.`,
      buttonSpecs: [],
    };
  if (channel.project !== undefined)
    return {
      said: `This channel is about ${bold(channel.project.name)}. Test that its repository and servers can be reached with ${code(`${word} test`)}.`,
      buttonSpecs: [
        { label: 'Test access', actionId: 'start:run#test', style: 'primary', value: { text: 'test' } },
      ],
    };
  return {
    said: `You are connected. Bind this channel to a project with ${code(`${word} use <project>`)}, or test any with ${code(`${word} test <project>`)}.`,
    buttonSpecs: [
      { label: 'Show the projects', actionId: 'start:run#projects', value: { text: 'projects' } },
      { label: 'Test a project', actionId: 'start:run#test', style: 'primary', value: { text: 'test' } },
    ],
  };
}
