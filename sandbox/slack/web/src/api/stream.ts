import type { Who } from './client.ts';
import type { StreamEvent } from './types.ts';

const RETRY_MS = 1500;

interface StreamHandlers {
  onEvent: (event: StreamEvent) => void;
  /** Called on each (re)connection: whatever happened in between must be read again. */
  onOpen: () => void;
  onLost: () => void;
}

/** Listens until the returned function is called; reconnects by itself, also after an answer that is no stream. */
export function openStream(who: Who, { onEvent, onOpen, onLost }: StreamHandlers): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const connect = (): void => {
    source = new EventSource(`/page/stream?${new URLSearchParams({ ...who })}`);
    source.onopen = onOpen;
    source.onmessage = ({ data }) => onEvent(JSON.parse(String(data)) as StreamEvent);
    source.onerror = () => {
      onLost();
      source?.close();
      timer = setTimeout(connect, RETRY_MS);
    };
  };
  connect();
  return () => {
    clearTimeout(timer);
    source?.close();
  };
}
