import {QueryClientProvider} from '@tanstack/react-query';
import {StrictMode} from 'react';
import {createRoot} from 'react-dom/client';
import {App} from './app.tsx';
import {preferred, show} from './language.ts';
import {Failure} from './parts/failure.tsx';
import {client} from './queries.ts';
import './style.css';

await show(preferred());
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Failure>
        <App />
      </Failure>
    </QueryClientProvider>
  </StrictMode>,
);
