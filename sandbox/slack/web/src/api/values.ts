/** What one element holds, in the words of Slack's `view.state.values`. */
export interface ElementValue {
  type: string;
  [field: string]: unknown;
}

/** By block_id, then action_id. */
export type Values = Readonly<Record<string, Readonly<Record<string, ElementValue>>>>;
