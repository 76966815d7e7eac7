import { useCallback, useMemo, useState } from 'react';

export interface InspectorModel {
  open: boolean;
  /** The ts of the message whose payload is shown. */
  ts: string | undefined;
  show: (ts: string) => void;
  toggle: () => void;
}

export function useInspector(): InspectorModel {
  const [open, setOpen] = useState(false);
  const [ts, setTs] = useState<string>();
  const show = useCallback((next: string) => {
    setTs(next);
    setOpen(true);
  }, []);
  const toggle = useCallback(() => setOpen((now) => !now), []);
  return useMemo(() => ({ open, ts, show, toggle }), [open, ts, show, toggle]);
}
