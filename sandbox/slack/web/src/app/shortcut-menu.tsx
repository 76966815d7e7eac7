import type { ReactNode } from 'react';
import type { Client } from '../api/client.ts';
import { useDirectory } from '../state/directory.ts';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/menu.tsx';

/** The apps' global shortcuts. */
export function ShortcutMenu({
  client,
  complain,
}: {
  client: Client;
  complain: (error: string) => void;
}): ReactNode {
  const { team } = useDirectory();
  const shortcuts = team.apps.flatMap((app) => {
    return app.shortcuts
      .filter(({ type }) => type === 'global')
      .map((shortcut) => ({ ...shortcut, app: app.name }));
  });
  if (shortcuts.length === 0) return null;
  const run = async (callbackId: string): Promise<void> => {
    const answer = await client.shortcut(callbackId);
    if (!answer.ok) complain(answer.error ?? 'the app did not answer');
  };
  return (
    <MenuButton
      label="Shortcuts"
      align="end"
      items={shortcuts.map(({ name, callback_id, app }) => ({
        key: callback_id,
        content: name,
        hint: app,
        onSelect: () => void run(callback_id),
      }))}
    >
      <Icon name="zap" />
    </MenuButton>
  );
}
