// Markdown of anybody as elements that are safe to insert: no raw HTML, no remote pictures, links that say where
// they lead. The same rules as in the chat.

import { renderMarkdown as render } from '../../components/markdown';
import { addStyle, say } from './dom';

const CSS = `
.chatos-markdown { overflow-wrap: anywhere; line-height: 1.6; }
.chatos-markdown > * + * { margin: 12px 0 0; }
.chatos-markdown > :first-child { margin-top: 0; }
.chatos-markdown :is(h1, h2, h3, h4, h5, h6) { font-size: 1rem; font-weight: 600; line-height: 1.3; margin-bottom: 0; }
.chatos-markdown h1 { font-size: 1.35rem; }
.chatos-markdown h2 { font-size: 1.15rem; }
.chatos-markdown :is(ul, ol) { padding-inline-start: 1.5em; }
.chatos-markdown pre { padding: 12px; overflow-x: auto; border: 1px solid var(--ds-code-border, #e0e4eb); border-radius: 8px;
  background: var(--ds-code-bg, #f3f5f8); color: var(--ds-code-text, inherit); font-size: 13px; }
.chatos-markdown code { font-family: var(--ds-mono, monospace); font-size: .93em; }
.chatos-markdown :not(pre) > code { padding: .05em .3em; border: 1px solid var(--ds-code-inline-border, #dde2ea); border-radius: 5px;
  background: var(--ds-code-inline-bg, #eceff4); }
.chatos-markdown blockquote { margin-inline: 0; padding-inline-start: 12px; border-inline-start: 3px solid var(--ds-blockquote-border, #c9d0db);
  color: var(--ds-blockquote-text, #4c566a); }
.chatos-markdown table { display: block; overflow-x: auto; border-collapse: collapse; }
.chatos-markdown :is(th, td) { padding: 4px 8px; border: 1px solid var(--ds-panel-border, #e1e5eb); }
.chatos-markdown .align-center { text-align: center; }
.chatos-markdown .align-right { text-align: right; }
.chatos-markdown img { max-width: 100%; }
.chatos-markdown a { color: var(--ds-accent, #2f5fd0); }
.chatos-markdown hr { border: 0; border-top: 1px solid var(--ds-panel-border, #e1e5eb); }
.chatos-markdown :is(.link-host, .blocked-image) { color: var(--ds-text-muted, #566074); font-size: .93em; }
`;

const zh = (host: string) => `打开 ${host}`;
const en = (host: string) => `Opens ${host}`;

export function renderMarkdown(source: string): HTMLElement {
  addStyle('markdown', CSS);
  const element = document.createElement('div');
  element.className = 'chatos-markdown';
  // The renderer has raw HTML switched off; see components/markdown.ts.
  element.innerHTML = render(String(source), say('zh', 'en') === 'zh' ? zh : en);
  return element;
}
