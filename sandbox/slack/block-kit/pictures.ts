import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { chars, id, plainText, webLink } from './texts.ts';

const slackFile = z.union([z.strictObject({ id }), z.strictObject({ url: webLink })]);

const source = {
  image_url: webLink.optional(),
  slack_file: slackFile.optional(),
  alt_text: chars(LIMITS.altText, 1),
};

function hasOneSource(image: { image_url?: unknown; slack_file?: unknown }): boolean {
  return (image.image_url === undefined) !== (image.slack_file === undefined);
}

const ONE_SOURCE = 'must provide one of `image_url` and `slack_file`';

/** An image inside a section or context block. */
export const imageElement = z
  .strictObject({ type: z.literal('image'), ...source })
  .refine(hasOneSource, ONE_SOURCE);

export const imageBlock = z
  .strictObject({
    type: z.literal('image'),
    block_id: id.optional(),
    ...source,
    title: plainText(LIMITS.altText).optional(),
  })
  .refine(hasOneSource, ONE_SOURCE);
