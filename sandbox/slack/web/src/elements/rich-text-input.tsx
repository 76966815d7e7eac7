import type { RichTextBlock, RichTextInput } from '@slack/types';
import type { ReactNode } from 'react';
import { type ElementProps, fieldAttributes, useElement } from './use-element.ts';

/** A plain area: what is typed goes out as one rich_text section. */
export function RichTextInputElement(props: ElementProps<RichTextInput>): ReactNode {
  const { value, keep } = useElement(props);
  const { element, field } = props;
  return (
    <textarea
      {...fieldAttributes(field, element.placeholder?.text ?? 'Text')}
      className="input"
      rows={4}
      placeholder={element.placeholder?.text}
      value={textOf(value.rich_text_value as RichTextBlock | null | undefined)}
      onChange={({ target }) =>
        keep({ rich_text_value: target.value === '' ? null : richText(target.value) })
      }
    />
  );
}

function richText(text: string): RichTextBlock {
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }] };
}

function textOf(block: RichTextBlock | null | undefined): string {
  const parts = block?.elements.flatMap((element) =>
    element.type === 'rich_text_section' ? element.elements : [],
  );
  return (parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}
