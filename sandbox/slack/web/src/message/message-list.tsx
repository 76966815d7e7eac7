import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { Message } from '../api/types.ts';
import { MessageRow } from './message-row.tsx';
import { dateOf, dayOf } from './time.ts';

/** Messages of one author this close together, in seconds, are drawn as one run. */
const RUN_S = 300;
/** How near the end, in pixels, one must be to be carried along by new messages. */
const NEAR_END_PX = 120;

/** How many messages are drawn at first, and more with each press. */
const PAGE = 150;

interface ListProps {
  label: string;
  messages: readonly Message[];
  repliesTo: (ts: string) => readonly Message[];
  inThread?: boolean;
  /** How often the reader has sent something: each time the list goes to its end. */
  sent?: number;
  /** Shown before the first message. */
  children?: ReactNode;
}

/** The messages of a channel or thread. Stays at the end while one is there; arrow keys walk from message to message. */
export function MessageList({
  label,
  messages,
  repliesTo,
  inThread = false,
  sent = 0,
  children,
}: ListProps): ReactNode {
  const scroller = useStickyEnd(messages, sent);
  const [most, setMost] = useState(PAGE);
  const shown = messages.slice(-most);
  return (
    <section
      ref={scroller}
      className="message-list"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      onKeyDown={walk}
    >
      <div className="message-end">
        {shown.length === messages.length ? (
          children
        ) : (
          <button type="button" className="button button-small earlier" onClick={() => setMost(most + PAGE)}>
            Show earlier messages
          </button>
        )}
        {shown.map((message, index) => {
          const before = shown[index - 1];
          const isNewDay = before === undefined || dayOf(before.ts) !== dayOf(message.ts);
          return (
            <div key={message.ts} className="message-slot">
              {isNewDay && !inThread && <DayDivider ts={message.ts} />}
              <MessageRow
                message={message}
                compact={!isNewDay && continues(before, message)}
                replies={repliesTo(message.ts)}
                inThread={inThread}
              />
            </div>
          );
        })}
      </div>
    </section>
  );
}

function useStickyEnd(messages: readonly Message[], sent: number): React.RefObject<HTMLElement | null> {
  const ref = useRef<HTMLElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const scroller = ref.current;
    if (scroller === null) return;
    let top = scroller.scrollTop;
    // Only a person scrolls up; what grows below, such as a picture that has come, does not lead away from the end.
    const note = (): void => {
      const isNear = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_END_PX;
      if (isNear) atEnd.current = true;
      else if (scroller.scrollTop < top) atEnd.current = false;
      top = scroller.scrollTop;
    };
    const follow = (): void => {
      if (atEnd.current) scroller.scrollTop = scroller.scrollHeight;
    };
    const resized = new ResizeObserver(follow);
    resized.observe(scroller);
    if (scroller.firstElementChild) resized.observe(scroller.firstElementChild);
    scroller.addEventListener('scroll', note, { passive: true });
    return () => {
      resized.disconnect();
      scroller.removeEventListener('scroll', note);
    };
  }, []);
  useLayoutEffect(() => {
    const scroller = ref.current;
    if (scroller && messages.length > 0 && atEnd.current) scroller.scrollTop = scroller.scrollHeight;
  }, [messages]);
  useLayoutEffect(() => {
    if (sent === 0 || ref.current === null) return;
    atEnd.current = true;
    ref.current.scrollTop = ref.current.scrollHeight;
  }, [sent]);
  return ref;
}

function continues(before: Message | undefined, message: Message): boolean {
  if (before === undefined || before.ephemeral || message.ephemeral) return false;
  const near = Number(message.ts) - Number(before.ts) < RUN_S;
  return (
    near &&
    before.user === message.user &&
    before.bot_id === message.bot_id &&
    before.subtype === message.subtype
  );
}

function DayDivider({ ts }: { ts: string }): ReactNode {
  const day = dateOf(ts);
  const text = day.toLocaleDateString(undefined, { weekday: 'long', month: 'long', day: 'numeric' });
  return (
    <div className="day">
      <span>{day.toDateString() === new Date().toDateString() ? 'Today' : text}</span>
    </div>
  );
}

function walk(event: KeyboardEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  const isHere = target === event.currentTarget || target.classList.contains('message');
  if (!isHere || !['ArrowUp', 'ArrowDown'].includes(event.key)) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.message')];
  const at = rows.indexOf(target);
  const next = event.key === 'ArrowUp' ? (at < 0 ? rows.length - 1 : at - 1) : at + 1;
  event.preventDefault();
  rows[next]?.focus();
}
