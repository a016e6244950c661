import {QueryClientProvider} from '@tanstack/react-query';
import {StrictMode} from 'react';
import {createRoot} from 'react-dom/client';
import {App} from './app.tsx';
import {begin} from './language.ts';
import {Failure} from './parts/failure.tsx';
import {client, sessionQuery} from './queries.ts';
import './style.css';

// Texts and session are loaded at the same time.
void client.prefetchQuery(sessionQuery);
void begin().then(() =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Failure>
          <App />
        </Failure>
      </QueryClientProvider>
    </StrictMode>,
  ),
);
