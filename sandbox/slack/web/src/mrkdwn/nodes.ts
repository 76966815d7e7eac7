/** What text of every kind (mrkdwn, rich text, markdown) is made of before it is drawn. */
export type Inline =
  | { type: 'text'; text: string }
  | { type: 'emoji'; name: string }
  | { type: 'break' }
  | { type: 'bold' | 'italic' | 'strike'; children: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'link'; url: string; children: Inline[] }
  | { type: 'user' | 'channel' | 'usergroup' | 'team'; id: string; label?: string }
  | { type: 'broadcast'; range: string }
  | { type: 'date'; timestamp: number; format: string; url?: string; fallback?: string };

export type TextBlock =
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'quote'; children: Inline[] }
  | { type: 'pre'; text: string };
