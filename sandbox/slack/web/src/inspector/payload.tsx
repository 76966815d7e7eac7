import { type ReactNode, useMemo } from 'react';

const piece = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/** JSON, indented and coloured; made of text nodes only. */
export function Payload({ value }: { value: unknown }): ReactNode {
  const parts = useMemo(() => colour(JSON.stringify(value, null, 2) ?? ''), [value]);
  return (
    <pre className="payload">
      {parts.map(({ at, kind, text }) => (
        <span key={at} className={kind && `json-${kind}`}>
          {text}
        </span>
      ))}
    </pre>
  );
}

interface Part {
  at: number;
  kind: 'key' | 'string' | 'literal' | undefined;
  text: string;
}

function colour(json: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const found of json.matchAll(piece)) {
    const [whole, string, colon] = found;
    const text = string ?? whole;
    if (found.index > from) parts.push({ at: from, kind: undefined, text: json.slice(from, found.index) });
    parts.push({ at: found.index, kind: string === undefined ? 'literal' : colon ? 'key' : 'string', text });
    from = found.index + text.length;
  }
  return [...parts, { at: from, kind: undefined, text: json.slice(from) }];
}
