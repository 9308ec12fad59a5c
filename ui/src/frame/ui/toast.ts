// A short message at the edge of an app's page; it leaves by itself.

import { addStyle, h } from './dom';

const CSS = `
.chatos-toasts { position: fixed; inset: auto 16px 16px auto; z-index: 1000; display: grid; gap: 8px; max-width: min(24rem, calc(100vw - 32px)); }
.chatos-toasts p { margin: 0; padding: 10px 14px; border: 1px solid var(--ds-floating-border, #ccc); border-radius: 8px;
  background: var(--ds-floating-bg, #fff); color: var(--ds-text-primary, #1c1c1e); box-shadow: var(--ds-floating-shadow, none); overflow-wrap: anywhere; }
.chatos-toasts p[data-kind="error"] { background: var(--ds-change-bg-error, #fdeceb); color: var(--ds-danger-text, #a4201a); }
`;

export function toast(message: string, { kind = 'info', ms = 4_000 }: { kind?: 'info' | 'error'; ms?: number } = {}): void {
  addStyle('toast', CSS);
  let box = document.body.querySelector<HTMLElement>(':scope > .chatos-toasts');
  if (!box) {
    box = h('div', { class: 'chatos-toasts', role: 'status' });
    document.body.append(box);
  }
  const item = h('p', { 'data-kind': kind }, message);
  box.append(item);
  setTimeout(() => item.remove(), ms);
}
