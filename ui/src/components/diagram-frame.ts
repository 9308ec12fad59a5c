// The frame that draws diagrams: made with the first one, asked for one at a time, let go when nothing was drawn for a
// while, and ended when it does not answer (decision 0043).

import { type Colours, type Drawing, MAX_SVG, type Told } from '../diagram/wire';

/** From the wish to the drawing; the first one waits for Mermaid as well. */
const PATIENCE_MS = 10_000;
const IDLE_MS = 60_000;

interface Job {
  source: string;
  colours: Colours;
  done: (drawing: Drawing) => void;
}

let frame: HTMLIFrameElement | null = null;
let ready = false;
let id = 0;
let current: Job | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
const waiting: Job[] = [];

export function draw(source: string, colours: Colours): Promise<Drawing> {
  return new Promise((done) => {
    waiting.push({ source, colours, done });
    next();
  });
}

function next(): void {
  if (current) return;
  clearTimeout(timer);
  current = waiting.shift() ?? null;
  if (!current) {
    timer = setTimeout(end, IDLE_MS);
    return;
  }
  id += 1;
  timer = setTimeout(() => {
    end();
    settle({ problem: '' });
  }, PATIENCE_MS);
  if (!frame) begin();
  else if (ready) ask();
}

function begin(): void {
  frame = document.createElement('iframe');
  frame.src = '/diagram.html';
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.className = 'diagram-frame';
  // Not for anybody's eyes or keys, but laid out: Mermaid measures its words.
  frame.tabIndex = -1;
  frame.setAttribute('aria-hidden', 'true');
  addEventListener('message', onmessage);
  document.body.append(frame);
}

function end(): void {
  clearTimeout(timer);
  removeEventListener('message', onmessage);
  frame?.remove();
  frame = null;
  ready = false;
}

function ask(): void {
  if (current) frame?.contentWindow?.postMessage({ id, source: current.source, colours: current.colours }, '*');
}

function onmessage({ source, data }: MessageEvent<Told>): void {
  if (!frame || source !== frame.contentWindow) return;
  if ('ready' in data) {
    ready = true;
    ask();
  } else if (data.id === id) {
    const drawn = 'svg' in data && typeof data.svg === 'string' && data.svg.length <= MAX_SVG;
    settle(drawn ? { svg: data.svg } : { problem: 'problem' in data ? String(data.problem) : '' });
  }
}

function settle(drawing: Drawing): void {
  const job = current;
  current = null;
  job?.done(drawing);
  next();
}
