import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

const GAP = 4;
const EDGE = 8;

interface PopoverProps {
  anchor: RefObject<HTMLElement | null>;
  onClose: () => void;
  align?: 'start' | 'end';
  /** At least as wide as its anchor. */
  wide?: boolean;
  className?: string;
  children: ReactNode;
}

/** A layer above everything, dialogs included, beside its anchor; a press elsewhere closes it. */
export function Popover({
  anchor,
  onClose,
  align = 'start',
  wide,
  className,
  children,
}: PopoverProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const popover = ref.current;
    if (popover === null) return;
    popover.showPopover();
    const follow = (): void => {
      if (anchor.current) place(popover, anchor.current.getBoundingClientRect(), align, wide === true);
    };
    follow();
    const resized = new ResizeObserver(follow);
    resized.observe(popover);
    addEventListener('resize', follow);
    addEventListener('scroll', follow, true);
    return () => {
      resized.disconnect();
      removeEventListener('resize', follow);
      removeEventListener('scroll', follow, true);
    };
  }, [anchor, align, wide]);
  useEffect(() => {
    const press = (event: PointerEvent): void => {
      const target = event.target instanceof Node ? event.target : null;
      if (!ref.current?.contains(target) && !anchor.current?.contains(target)) onClose();
    };
    document.addEventListener('pointerdown', press);
    return () => document.removeEventListener('pointerdown', press);
  }, [anchor, onClose]);
  return (
    <div ref={ref} popover="manual" className={className ? `popover ${className}` : 'popover'}>
      {children}
    </div>
  );
}

/** Below the anchor, or above it where there is more room; never off the screen. */
function place(popover: HTMLElement, at: DOMRect, align: 'start' | 'end', wide: boolean): void {
  if (wide) popover.style.minWidth = `${at.width}px`;
  const below = innerHeight - at.bottom - GAP - EDGE;
  const above = at.top - GAP - EDGE;
  popover.style.maxHeight = `${Math.max(below, above)}px`;
  const { width, height } = popover.getBoundingClientRect();
  const up = height > below && above > below;
  const left = align === 'start' ? at.left : at.right - width;
  popover.style.top = `${up ? at.top - GAP - height : at.bottom + GAP}px`;
  popover.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
}
