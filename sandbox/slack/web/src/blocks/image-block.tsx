import type { ImageBlock as ImageData } from '@slack/types';
import type { ReactNode } from 'react';
import { Picture, pictureUrl } from '../elements/image.tsx';
import { PlainText } from '../mrkdwn/text.tsx';

export function ImageBlock({ block }: { block: ImageData }): ReactNode {
  const url = pictureUrl(block);
  const picture = <Picture source={block} className="image-block" />;
  return (
    <figure className="figure">
      {block.title && (
        <figcaption>
          <PlainText text={block.title} />
        </figcaption>
      )}
      {url === undefined ? (
        picture
      ) : (
        <a href={url} target="_blank" rel="noopener noreferrer" className="image-link">
          {picture}
        </a>
      )}
    </figure>
  );
}
