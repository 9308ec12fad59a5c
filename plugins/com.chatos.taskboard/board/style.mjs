// The look of the board pages: the host's tokens, each with a fallback for hosts that lack one.

export const style = `
.board { display: flex; flex-direction: column; height: 100%; min-height: 0; color: var(--ds-text-primary, #1c1c1e);
  background: var(--ds-page-bg, #f4f5f7); font: 14px/1.5 var(--ds-font, system-ui, sans-serif); }
.board * { box-sizing: border-box; }
.board .bar { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 10px 14px;
  background: var(--ds-header-bg, #fff); border-bottom: 1px solid var(--ds-header-border, #ddd); }
.board label { display: inline-flex; gap: 6px; align-items: center; color: var(--ds-text-secondary, #555); }
.board select, .board input { padding: 6px 8px; font: inherit; color: var(--ds-text-primary, #1c1c1e); background: var(--ds-panel-bg, #fff);
  border: 1px solid var(--ds-panel-border, #ccc); border-radius: 8px; max-width: 100%; }
.board .button { white-space: nowrap; padding: 6px 12px; border: 1px solid var(--ds-panel-border, #ccc); border-radius: 8px; cursor: pointer;
  background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; }
.board .button.primary { background: var(--ds-accent, #2f5fd0); border-color: transparent; color: var(--ds-on-accent, #fff); font-weight: 500; }
.board .button[aria-pressed="true"] { background: var(--ds-selected-bg, #e4ecff); }
.board .button:disabled { opacity: .5; cursor: default; }
.board :focus-visible { outline: 2px solid var(--ds-focus-ring, #3056d3); outline-offset: 1px; }
.board .columns { flex: 1; display: grid; grid-auto-flow: column; grid-auto-columns: minmax(220px, 1fr); gap: 12px; padding: 14px; overflow: auto; }
.board .column { display: flex; flex-direction: column; gap: 8px; min-width: 0; }
.board .column h2 { margin: 0; font-size: 13px; display: flex; gap: 8px; align-items: baseline; }
.board .count { color: var(--ds-text-muted, #6b6b70); font-weight: 400; }
.board .over { background: var(--ds-change-bg-warning, #ffe9b3); border-radius: 6px; padding: 0 6px; font-weight: 400; }
.board .card { background: var(--ds-panel-bg, #fff); border: 1px solid var(--ds-panel-border, #ddd); border-radius: 10px;
  box-shadow: var(--ds-panel-shadow, none); padding: 10px 12px; overflow-wrap: anywhere; }
.board .card h3 { margin: 0 0 4px; font-size: 14px; }
.board .card p { margin: 0 0 6px; color: var(--ds-text-secondary, #555); font-size: 13px; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
.board .card .row { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; font-size: 12px; color: var(--ds-text-muted, #6b6b70); }
.board .tag { background: var(--ds-tag-bg, #eee); color: var(--ds-tag-text, #444); border-radius: 6px; padding: 0 6px; }
.board .card .button, .board .card select { padding: 2px 8px; font-size: 12px; }
.board .notice { padding: 8px 14px; background: var(--ds-subtle-bg, #eef2ff); display: flex; gap: 8px; flex-wrap: wrap; align-items: center; white-space: pre-wrap; }
.board .notice.error { background: var(--ds-change-bg-error, #fde2e2); }
.board .empty { margin: auto; text-align: center; color: var(--ds-text-secondary, #555); padding: 24px; max-width: 40ch; }
.board form { display: flex; gap: 8px; padding: 10px 14px; border-top: 1px solid var(--ds-panel-border, #ddd); background: var(--ds-panel-bg, #fff); }
.board form input { flex: 1; }
/* The host's button for questions lies over the lower right corner of a full view. */
:root[data-surface="full"] .board form { padding-inline-end: 88px; }
.board .page { padding: 18px 20px; overflow: auto; max-width: 72ch; }
.board pre { background: var(--ds-code-bg, #f4f4f6); border: 1px solid var(--ds-code-border, #e2e2e6); color: var(--ds-code-text, inherit); border-radius: 8px; padding: 12px; white-space: pre-wrap; overflow-wrap: anywhere; }
.board .list { list-style: none; margin: 0; padding: 12px; display: flex; flex-direction: column; gap: 8px; overflow: auto; flex: 1; }
`;
