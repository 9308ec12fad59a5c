// Entry of the page. Order matters: the sign-in code leaves the address bar before anything else.

import { mount } from 'svelte';
import './theme/tokens.css';
import './theme/base.css';
import { session, toasts } from './state';
import { i18n } from './i18n/index.svelte';
import App from './App.svelte';

session.takeCodeFromAddress();
void session.begin();
addEventListener('hashchange', (event) => session.takeCodeFromAddress(new URL(event.oldURL).hash || '#/'));

addEventListener('error', (event) => {
  // Chromium's word for “measured again in the next frame”, which is what VirtualList wants.
  if (event.message.startsWith('ResizeObserver loop')) return;
  toasts.error(i18n.t.shell.unexpected, event.message);
});
addEventListener('unhandledrejection', (event) => {
  const reason: unknown = event.reason;
  toasts.error(i18n.t.shell.unexpected, reason instanceof Error ? reason.message : String(reason));
});

const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app element');
void i18n.begin().then(() => mount(App, { target }));
