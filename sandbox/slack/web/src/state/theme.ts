import { useCallback, useEffect, useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';
const order: readonly Theme[] = ['system', 'light', 'dark'];

/** Light, dark or as the machine says; kept in the browser. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(KEY, theme);
  }, [theme]);
  const turn = useCallback(() => {
    setTheme((now) => order[(order.indexOf(now) + 1) % order.length] ?? 'system');
  }, []);
  return [theme, turn];
}

function readTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return order.find((theme) => theme === stored) ?? 'system';
}
