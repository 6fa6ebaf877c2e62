import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import './styles/tokens.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/fields.css';
import './styles/pool.css';
import './styles/runs.css';
import './styles/run.css';
import './styles/events.css';
import './styles/plan.css';

createRoot(document.getElementById('root')!).render(<App />);
