import { atImport, themes } from './at-import.mjs';

const started = Math.random();

export default {
  mount({ container, host, slots }) {
    slots.header.textContent = 'Synchronous members';
    const pre = document.createElement('pre');
    container.append(pre);
    const draw = () => {
      pre.textContent = JSON.stringify({ started, atImport, themes, now: host.context.get(), surface: host.ui.surface, lang: document.documentElement.lang });
    };
    draw();
    addEventListener('chatos:context', draw);
    return { dispose: () => removeEventListener('chatos:context', draw) };
  },
};
