import type { Caller } from '../commands/command.ts';
import type { Deckhand } from '../deckhand.ts';
import { explainAndLog } from '../failures.ts';
import { type Choice, optionsOf } from '../views/modal.ts';
import type { OptionsBody } from './payloads.ts';
import type { Registry } from './registry.ts';

/** Slack waits 3 s for a menu's options. */
const PATIENCE_MS = 2_500;

/** The options of an external select for what was typed so far; a failure is an empty menu and a line in the log. */
export async function runOptions(
  deckhand: Deckhand,
  registry: Registry,
  caller: Caller,
  body: OptionsBody,
): Promise<{ options: ReturnType<typeof optionsOf> }> {
  const found = registry.optionSource(body.action_id);
  const timer = new AbortController();
  try {
    if (
      found === undefined ||
      !(await deckhand.roles.holds(caller.workspace, caller.user, found.source.role))
    )
      return { options: [] };
    const metadata = body.view?.private_metadata ?? '';
    const context = { caller, account: undefined, text: '', deckhand, metadata };
    const choices = await Promise.race([
      found.source.options(body.value, context),
      deckhand.clock.sleep(PATIENCE_MS, timer.signal).then((): Choice[] => []),
    ]);
    return { options: optionsOf(choices) };
  } catch (error) {
    const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
    explainAndLog(error, at, deckhand.log, { workspace: caller.workspace, action: body.action_id });
    return { options: [] };
  } finally {
    timer.abort();
  }
}
