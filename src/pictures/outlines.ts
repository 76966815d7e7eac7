/** Of words in a chart: what stands at the origin, and what places and colors it. */
const TEXT = /<text ([^>]*?) (transform="[^"]*" fill="[^"]*")>([^<]*)<\/text>/g;
/** Axes, legend and titles stand in the next chart too. */
const MOST = 500;
/** More than two are not seen. */
const DECIMALS = /-?\d+\.\d{3,}/g;

/**
 * Turns a chart's words into outlines, each of which is made once. The painter opens a font file for each letter that
 * it outlines, and outlines some hundred of them in a chart.
 * @param simplify gives the same SVG with paths instead of words
 */
export function createOutlines(simplify: (svg: string) => string): (svg: string) => string {
  const known = new Map<string, string>();

  function outlineOf(text: string): string {
    const standing = known.get(text);
    if (standing !== undefined) return standing;
    const svg = simplify(`<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1">${text}</svg>`);
    const paths = [...svg.matchAll(/ d="([^"]*)"/g)].map(([, path = '']) => path);
    const outline = paths
      .join(' ')
      .replaceAll(DECIMALS, (number) => String(Math.round(Number(number) * 100) / 100));
    const [oldest] = known.keys();
    if (known.size >= MOST && oldest !== undefined) known.delete(oldest);
    known.set(text, outline);
    return outline;
  }

  return (svg) =>
    svg.replace(TEXT, (_, shape: string, placed: string, words: string) => {
      const outline = outlineOf(`<text ${shape}>${words}</text>`);
      return `<path ${placed} d="${outline}"/>`;
    });
}
