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
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';

const element = document.getElementById('root');
if (element === null) throw new Error('the page has no #root');

createRoot(element).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
