import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import './styles/tokens.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/pages.css';

createRoot(document.getElementById('root')!).render(<App />);
