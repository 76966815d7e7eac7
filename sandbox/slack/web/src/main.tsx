import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/jetbrains-mono/wght.css';
import './styles/theme.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/message.css';
import './styles/pane.css';
import './styles/blocks.css';
import './styles/chart.css';
import './styles/elements.css';
import './styles/dialog.css';
import './styles/composer.css';
import './styles/inspector.css';
import { StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { App } from './app/app.tsx';

const element = document.getElementById('root');
if (element === null) throw new Error('the page has no #root');

let root = start(element);
// A browser may keep a page that was left: it holds no stream meanwhile, and starts anew on the way back.
addEventListener('pagehide', ({ persisted }) => {
  if (persisted) root.unmount();
});
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) root = start(element);
});

function start(container: HTMLElement): Root {
  const started = createRoot(container);
  started.render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
  return started;
}
