// The look of the notes pages: the host's tokens, each with a fallback for hosts that lack one.

export const style = `
.notes { display: grid; grid-template-columns: minmax(200px, 280px) 1fr; height: 100%; min-height: 0;
  color: var(--ds-text-primary, #1c1c1e); background: var(--ds-panel-bg, #fff); font: 14px/1.6 var(--ds-font, system-ui, sans-serif); }
.notes * { box-sizing: border-box; }
.notes .side { display: flex; flex-direction: column; gap: 8px; padding: 12px; min-height: 0;
  border-inline-end: 1px solid var(--ds-panel-border, #ddd); background: var(--ds-subtle-bg, #f7f7f8); }
.notes .list { list-style: none; margin: 0; padding: 0; overflow: auto; flex: 1; }
.notes .list button { display: block; width: 100%; padding: 8px 10px; border: 0; border-radius: 8px; text-align: start;
  background: none; color: inherit; font: inherit; cursor: pointer; }
.notes .list button:hover { background: var(--ds-nav-hover-bg, #eee); }
.notes .list button[aria-current="true"] { background: var(--ds-selected-bg, #e4ecff); }
.notes .name { display: block; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.notes .info { display: block; color: var(--ds-text-muted, #6b6b70); font-size: 12px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.notes .tag { background: var(--ds-tag-bg, #eee); color: var(--ds-tag-text, #444); border-radius: 6px; padding: 0 6px; margin-inline-end: 4px; }
.notes .main { display: flex; flex-direction: column; min-height: 0; min-width: 0; }
.notes .bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 10px 14px; border-bottom: 1px solid var(--ds-panel-border, #ddd); }
.notes .bar .state { margin-inline-start: auto; color: var(--ds-text-muted, #6b6b70); font-size: 12px; }
.notes input[type="search"], .notes input[type="text"], .notes textarea { width: 100%; padding: 8px 10px; font: inherit; color: inherit;
  background: var(--ds-panel-bg, #fff); border: 1px solid var(--ds-panel-border, #ccc); border-radius: 8px; }
.notes textarea { flex: 1; border: 0; border-radius: 0; padding: 16px; resize: none; font: 14px/1.7 ui-monospace, monospace; }
.notes .button { white-space: nowrap; padding: 6px 12px; border: 1px solid var(--ds-panel-border, #ccc); border-radius: 8px; cursor: pointer;
  background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; }
.notes .button.primary { background: var(--ds-accent, #2f5fd0); border-color: transparent; color: var(--ds-on-accent, #fff); font-weight: 500; }
.notes .button[aria-pressed="true"] { background: var(--ds-selected-bg, #e4ecff); }
.notes form { display: flex; gap: 8px; }
.notes .button:disabled { opacity: .5; cursor: default; }
.notes :focus-visible { outline: 2px solid var(--ds-focus-ring, #3056d3); outline-offset: 1px; }
.notes .page { flex: 1; overflow: auto; padding: 16px 20px; overflow-wrap: anywhere; }
.notes .page pre { background: var(--ds-code-bg, #f4f4f6); border: 1px solid var(--ds-code-border, #e2e2e6); color: var(--ds-code-text, inherit); border-radius: 8px; padding: 12px; overflow: auto; }
.notes .page code { background: var(--ds-code-inline-bg, #f0f0f3); border-radius: 4px; padding: 0 4px; font-family: ui-monospace, monospace; }
.notes .page pre code { background: none; padding: 0; }
.notes .page blockquote { margin: 0; padding-inline-start: 12px; border-inline-start: 3px solid var(--ds-blockquote-border, #ccc); color: var(--ds-blockquote-text, #555); }
.notes .page li.check { list-style: none; margin-inline-start: -1.2em; }
.notes .page a { color: var(--ds-accent, #3056d3); }
.notes .notice { padding: 8px 14px; background: var(--ds-change-bg-warning, #fff4d6); display: flex; gap: 8px; flex-wrap: wrap; align-items: center; }
.notes .notice.error { background: var(--ds-change-bg-error, #fde2e2); }
.notes .empty { margin: auto; text-align: center; color: var(--ds-text-secondary, #555); padding: 24px; max-width: 36ch; }
.notes.narrow { grid-template-columns: 1fr; }
.notes.narrow .side { border: 0; }
@media (max-width: 640px) {
  .notes:not(.narrow) { grid-template-columns: 1fr; grid-template-rows: minmax(120px, 34%) 1fr; }
  .notes:not(.narrow) .side { border-inline-end: 0; border-bottom: 1px solid var(--ds-panel-border, #ddd); }
}
`;
