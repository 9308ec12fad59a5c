// Drawing without a framework: make elements, collect what must be undone.
//
// Text is always set as text, never as HTML: a note, a task or a prompt is somebody else's words.

/** `h('button', { class: 'x', onclick: f }, 'Save')`. Properties starting with `on` are listeners. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else element.setAttribute(name, String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Replaces what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

/** Everything a mounted app has to undo, undone in reverse order, once; one failure does not stop the rest. */
export function cleanup() {
  const tasks = [];
  let done = false;
  return {
    add(task) {
      if (typeof task !== 'function') return;
      if (done) task();
      else tasks.push(task);
    },
    /** A listener that goes with the app. */
    listen(target, type, listener) {
      target.addEventListener(type, listener);
      this.add(() => target.removeEventListener(type, listener));
    },
    /** A repeating timer that goes with the app. */
    every(milliseconds, work) {
      const timer = setInterval(work, milliseconds);
      this.add(() => clearInterval(timer));
    },
    run() {
      if (done) return;
      done = true;
      for (const task of tasks.reverse()) {
        try {
          task();
        } catch (error) {
          console.error('cleanup failed', error);
        }
      }
    },
  };
}

/** Calls `work` once things have been quiet for a while; `flush` does it now. */
export function debounce(milliseconds, work) {
  let timer;
  const cancel = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const call = () => {
    cancel();
    timer = setTimeout(() => {
      timer = undefined;
      work();
    }, milliseconds);
  };
  call.cancel = cancel;
  call.pending = () => timer !== undefined;
  call.flush = () => {
    const waiting = timer !== undefined;
    cancel();
    return waiting ? work() : undefined;
  };
  return call;
}

/** Two dictionaries of the same shape; the frame's language decides. */
export function pickLanguage(host, { zh, en }) {
  return host.context.get().lang === 'zh' ? zh : en;
}

/** "3 min ago", in the reader's language and without a library. */
export function relativeTime(iso, lang, now = Date.now()) {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const format = new Intl.RelativeTimeFormat(lang === 'zh' ? 'zh-CN' : 'en', { numeric: 'auto', style: 'short' });
  const steps = [['day', 86_400], ['hour', 3_600], ['minute', 60]];
  for (const [unit, size] of steps) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(0, 'second');
}
