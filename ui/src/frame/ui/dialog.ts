// Questions inside an app's own page, in the host's look: confirm, prompt, and a dialog of one's own.

import { addStyle, type Child, h, say } from './dom';

const CSS = `
.chatos-dialog { width: min(28rem, calc(100vw - 2rem)); padding: 0; border: 1px solid var(--ds-floating-border, #ccc);
  border-radius: 12px; background: var(--ds-floating-bg, #fff); color: var(--ds-text-primary, #1c1c1e);
  box-shadow: var(--ds-floating-shadow, 0 12px 40px rgb(0 0 0 / 20%)); font: inherit; }
.chatos-dialog::backdrop { background: var(--ds-scrim, rgb(0 0 0 / 40%)); }
.chatos-dialog form { display: grid; gap: 14px; padding: 18px 20px; }
.chatos-dialog h2 { margin: 0; font-size: 1rem; }
.chatos-dialog p { margin: 0; color: var(--ds-text-secondary, #444); overflow-wrap: anywhere; white-space: pre-line; }
.chatos-dialog label { display: grid; gap: 6px; }
.chatos-dialog input { min-height: 34px; padding: 0 10px; border: 1px solid var(--ds-border-strong, #888); border-radius: 8px;
  background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; }
.chatos-dialog footer { display: flex; flex-wrap: wrap; justify-content: end; gap: 8px; }
.chatos-dialog button { min-height: 32px; padding: 0 14px; border: 1px solid var(--ds-floating-border, #ccc); border-radius: 8px;
  background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; font-weight: 500; cursor: pointer; }
.chatos-dialog button.primary { border-color: transparent; background: var(--ds-accent, #2f5fd0); color: var(--ds-on-accent, #fff); }
.chatos-dialog button.danger { border-color: transparent; background: var(--ds-danger, #b3261e); color: var(--ds-on-danger, #fff); }
.chatos-dialog :focus-visible { outline: 2px solid var(--ds-focus-ring, #2f5fd0); outline-offset: 2px; }
`;

export interface DialogOptions {
  title: string;
  message?: string;
  /** Placed between the message and the buttons. */
  content?: Child[];
  confirmLabel?: string;
  /** Empty for a dialog with one button. */
  cancelLabel?: string;
  danger?: boolean;
}

/** Opens a dialog; resolves with what `result` gives when it is confirmed, with null otherwise. */
export function openDialog<T>(options: DialogOptions, result: () => T): Promise<T | null> {
  addStyle('dialog', CSS);
  const { title, message, content = [], danger = false } = options;
  const confirm = options.confirmLabel ?? say('确定', 'OK');
  const cancel = options.cancelLabel ?? say('取消', 'Cancel');
  const cancelButton = cancel === '' ? null : h('button', { type: 'button', onclick: () => dialog.close() }, cancel);
  const heading = h('h2', { id: `chatos-dialog-${Date.now()}` }, title);
  const form = h('form', { method: 'dialog' },
    heading,
    message ? h('p', {}, message) : null,
    content,
    h('footer', {}, cancelButton, h('button', { type: 'submit', value: 'ok', class: danger ? 'danger' : 'primary' }, confirm)));
  const dialog = h('dialog', { class: 'chatos-dialog', 'aria-labelledby': heading.id }, form) as HTMLDialogElement;
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const value = dialog.returnValue === 'ok' ? result() : null;
      dialog.remove();
      resolve(value);
    }, { once: true });
    // `form-action 'none'` lets no form leave, and a dialog form does not; the value is set by hand to be sure.
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      dialog.close('ok');
    });
    dialog.showModal();
    // The harmless button has the focus when the other one does harm.
    if (danger) cancelButton?.focus();
  });
}

export async function confirmDialog(options: DialogOptions): Promise<boolean> {
  return (await openDialog(options, () => true)) ?? false;
}

export async function promptDialog(options: DialogOptions & { label?: string; value?: string; placeholder?: string }): Promise<string | null> {
  const { label = options.title, value = '', placeholder } = options;
  const input = h('input', { type: 'text', value, placeholder }) as HTMLInputElement;
  const answer = openDialog({ ...options, content: [h('label', {}, label, input)] }, () => input.value);
  input.select();
  return answer;
}
