import type { Button, WorkflowButton } from '@slack/types';
import type { ReactNode } from 'react';
import { PlainText } from '../mrkdwn/text.tsx';
import { Icon } from '../ui/icon.tsx';
import { safeUrl } from '../ui/safe-url.ts';
import { type ElementProps, useElement } from './use-element.ts';

/** A button; one with a `url` opens it and tells the app as well, as Slack does. */
export function ButtonElement(props: ElementProps<Button | WorkflowButton>): ReactNode {
  const { element } = props;
  const { act, pending } = useElement(props);
  const url = element.type === 'button' ? safeUrl(element.url) : undefined;
  const payload = element.type === 'button' ? buttonPayload(element) : { text: element.text };
  const attributes = {
    className: `button button-small${element.style ? ` button-${element.style}` : ''}`,
    'aria-label': element.accessibility_label,
    onClick: () => {
      if (!pending) act(payload);
    },
  };
  const text = <PlainText text={element.text} />;
  if (url !== undefined) {
    return (
      <a {...attributes} href={url} target="_blank" rel="noopener noreferrer">
        {text}
        <Icon name="external-link" />
      </a>
    );
  }
  return (
    <button {...attributes} type="button" aria-busy={pending} aria-disabled={pending}>
      {pending && <Icon name="loader-circle" className="spin" />}
      {text}
    </button>
  );
}

function buttonPayload({ text, value, style }: Button): Record<string, unknown> {
  return { text, ...(value !== undefined && { value }), ...(style !== undefined && { style }) };
}
