/** Attributes of a span, without those that are undefined. Never typed text, e-mails, keys or whole addresses. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** One of few names, so that spans can be grouped. */
  name: string;
  /** As in OpenTelemetry: a request to us, a request of ours, a job, or a part of these. */
  kind: 'server' | 'client' | 'consumer' | 'internal';
  /** Called only where traces are on. */
  attributes?: () => Attributes;
  /** The span it belongs to, as W3C's `traceparent`; null begins a trace. By default the active span. */
  parent?: string | null;
}

export interface Span {
  set(attributes: Attributes): void;
  /** For a failure that was not thrown, or that should be named differently. */
  fail(type: string): void;
}

export interface Tracing {
  /** Runs `work` inside a span, the parent of the spans that start meanwhile. Returns or throws as `work` does. */
  run<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** The active span as W3C's `traceparent`, for a stored job. Undefined where there is none. */
  readonly traceparent: string | undefined;
  /** Sends the remaining spans, within a short time limit. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { set() {}, fail() {} };

/** Switched off: nothing is loaded, kept or sent. */
export const NO_TRACING: Tracing = {
  run: (_, work) => work(NO_SPAN),
  traceparent: undefined,
  async close() {},
};
