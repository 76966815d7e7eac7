/** What a span tells of itself; undefined is left out. Never what people typed, nor e-mails, keys or whole addresses. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SpanStart {
  /** One of few, so that spans can be grouped by it. */
  name: string;
  /** As OpenTelemetry has them: what came in, what goes out, a job, a part of either. */
  kind: 'server' | 'client' | 'consumer' | 'internal';
  /** Asked only where traces are on. */
  attributes?: () => Attributes;
  /** The span it belongs to, as W3C's `traceparent`; null begins a trace. Left out, it is the one under way. */
  parent?: string | null;
}

export interface Span {
  set(attributes: Attributes): void;
  /** It failed without throwing, or as something else than what it threw. */
  fail(type: string): void;
}

export interface Tracing {
  /** Runs `work` as a span, which ends with it and which what it calls belongs to. Passes on what comes of it. */
  run<T>(start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** The span under way, as W3C's `traceparent`: what a stored job carries. Undefined where there is none. */
  readonly traceparent: string | undefined;
  /** Sends what is still to be told, for a short while at most. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { set() {}, fail() {} };

/** Switched off: nothing is loaded, kept or sent. */
export const NO_TRACING: Tracing = {
  run: (_, work) => work(NO_SPAN),
  traceparent: undefined,
  async close() {},
};
