import type { Overflow, PlainTextOption } from '@slack/types';
import type { ReactNode } from 'react';
import { PlainText } from '../mrkdwn/text.tsx';
import { Icon } from '../ui/icon.tsx';
import { MenuButton } from '../ui/menu.tsx';
import { safeUrl } from '../ui/safe-url.ts';
import { type ElementProps, useElement } from './use-element.ts';

export function OverflowElement(props: ElementProps<Overflow>): ReactNode {
  const { act } = useElement(props);
  const select = (option: PlainTextOption): void => {
    const url = safeUrl(option.url);
    if (url !== undefined) open(url, '_blank', 'noopener,noreferrer');
    act({ selected_option: option });
  };
  const items = props.element.options.map((option, index) => ({
    key: option.value ?? `${index}`,
    content: <PlainText text={option.text} />,
    hint: option.description && <PlainText text={option.description} />,
    onSelect: () => select(option),
  }));
  return (
    <MenuButton label="More actions" items={items} align="end" className="icon-button overflow">
      <Icon name="ellipsis-vertical" />
    </MenuButton>
  );
}
