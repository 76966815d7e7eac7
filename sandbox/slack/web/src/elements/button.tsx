import type { Button, FeedbackButtons, IconButton, WorkflowButton } from '@slack/types';
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

export function IconButtonElement(props: ElementProps<IconButton>): ReactNode {
  const { element } = props;
  const { act } = useElement(props);
  const label = element.accessibility_label ?? element.text.text;
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={() =>
        act({ text: element.text, ...(element.value !== undefined && { value: element.value }) })
      }
    >
      <Icon name="trash" />
    </button>
  );
}

export function FeedbackElement(props: ElementProps<FeedbackButtons>): ReactNode {
  const { element } = props;
  const { act } = useElement(props);
  const choices = [
    { ...element.positive_button, icon: 'thumbs-up' as const },
    { ...element.negative_button, icon: 'thumbs-down' as const },
  ];
  return choices.map(({ icon, text, value, accessibility_label }) => (
    <button
      key={icon}
      type="button"
      className="icon-button"
      aria-label={accessibility_label ?? text.text}
      title={text.text}
      onClick={() => act({ text, value })}
    >
      <Icon name={icon} />
    </button>
  ));
}
