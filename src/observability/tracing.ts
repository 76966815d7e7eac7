/** Attributes of a span; undefined ones are dropped. Never typed text, e-mails, keys or whole addresses. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** One of few names, so that spans can be grouped. */
  name: string;
  /** OpenTelemetry's kind: a call by Deckhand, a job, or a part of these. */
  kind: 'client' | 'consumer' | 'internal';
  /** Called only if traces are on. */
  attributes?: () => Attributes;
  /** Parent span as W3C's `traceparent`; null begins a trace. The active span by default. */
  parent?: string | null;
}

export interface Span {
  set(attributes: Attributes): void;
  /** Marks a failure that was not thrown, or that needs another name. */
  fail(type: string): void;
}

export interface Tracing {
  /** Runs `work` in a span, the parent of the spans that start in it. Returns or throws what `work` does. */
  trace<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** Active span as W3C's `traceparent`, for a stored job. Undefined without one. */
  readonly traceparent: string | undefined;
  /** Sends the remaining spans, within a short time limit. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { set() {}, fail() {} };

/** Tracing switched off: nothing is loaded, collected or sent. */
export const NO_TRACING: Tracing = {
  trace: (_, work) => work(NO_SPAN),
  traceparent: undefined,
  async close() {},
};
