import type { SectionBlock } from '@slack/types';
import type { ReactNode } from 'react';
import { Element } from '../elements/element.tsx';
import { Text } from '../mrkdwn/text.tsx';
import { indexed } from '../ui/indexed.ts';

export function Section({ block, blockId }: { block: SectionBlock; blockId: string }): ReactNode {
  const { text, fields, accessory } = block;
  return (
    <div className={`section${accessory?.type === 'image' ? ' with-image' : ''}`}>
      <div className="section-text">
        {text && <Text text={text} />}
        {fields && (
          <div className="fields">
            {indexed(fields).map(([key, field]) => (
              <div key={key} className="field">
                <Text text={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {accessory && (
        <div className="accessory">
          <Element element={accessory} blockId={blockId} />
        </div>
      )}
    </div>
  );
}
