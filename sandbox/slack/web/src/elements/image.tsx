import type { ImageElement as ImageData } from '@slack/types';
import { type ReactNode, useState } from 'react';
import { fileUrl } from '../api/client.ts';
import { Icon } from '../ui/icon.tsx';
import { ownUrl, safeUrl } from '../ui/safe-url.ts';

type Source = Pick<ImageData, 'alt_text'> & {
  image_url?: string;
  slack_file?: { id?: string; url?: string };
};

/** A small picture in a section or context. */
export function ImageElement({ element }: { element: Source }): ReactNode {
  return <Picture source={element} className="image-element" />;
}

/** A picture the workspace holds; one from elsewhere is named and linked, never loaded. */
export function Picture({ source, className }: { source: Source; className: string }): ReactNode {
  const [broken, setBroken] = useState(false);
  const src = pictureUrl(source);
  if (src !== undefined && !broken) {
    return <img className={className} src={src} alt={source.alt_text} onError={() => setBroken(true)} />;
  }
  const href = safeUrl(source.image_url);
  const text = (
    <>
      <Icon name="image" />
      {source.alt_text}
    </>
  );
  if (href === undefined) return <span className="image-missing">{text}</span>;
  return (
    <a className="image-missing" href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

/** Where the page may load the picture from, if anywhere. */
export function pictureUrl({ image_url, slack_file }: Source): string | undefined {
  const file = slack_file && (slack_file.id ?? /\bF[A-Z0-9]{8,}\b/.exec(slack_file.url ?? '')?.[0]);
  if (file !== undefined) return fileUrl(file);
  return image_url === undefined ? undefined : ownUrl(image_url);
}
