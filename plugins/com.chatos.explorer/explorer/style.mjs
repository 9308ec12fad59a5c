// The look of the explorer: the host's tokens, each with a fallback.

export const style = `
.explorer { display: grid; grid-template-rows: auto minmax(0, 1fr); height: 100%; color: var(--ds-text-primary, #182031);
  background: var(--ds-page-bg, #f5f6f8); font: 14px/1.5 var(--ds-font, system-ui, sans-serif); }
.explorer * { box-sizing: border-box; }
.explorer .bar { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; padding: 10px 16px; background: var(--ds-header-bg, #fff);
  border-bottom: 1px solid var(--ds-header-border, #ddd); }
.explorer .bar .state { margin-inline-start: auto; color: var(--ds-text-muted, #566074); font-size: 13px; }
.explorer [role="tablist"] { display: inline-flex; padding: 2px; border-radius: 9px; background: var(--ds-subtle-bg, #eef0f4); }
.explorer [role="tab"] { min-height: 28px; padding: 0 12px; border: 0; border-radius: 7px; background: none; color: var(--ds-text-secondary, #3c4658); font: inherit; cursor: pointer; }
.explorer [role="tab"][aria-selected="true"] { background: var(--ds-panel-bg, #fff); color: var(--ds-text-primary, #182031); box-shadow: var(--ds-panel-shadow, none); }
.explorer .body { min-height: 0; overflow: auto; }
.explorer .split { display: grid; grid-template-columns: minmax(220px, 300px) minmax(0, 1fr); height: 100%; min-height: 0; }
.explorer .side { min-height: 0; padding: 10px; overflow: auto; border-inline-end: 1px solid var(--ds-panel-border, #ddd); background: var(--ds-panel-bg, #fff); }
.explorer .detail { display: grid; align-content: start; gap: 14px; min-height: 0; padding: 20px 24px 40px; overflow: auto; }
.explorer h2 { margin: 0; font-size: 18px; font-family: var(--ds-mono, monospace); overflow-wrap: anywhere; }
.explorer p { margin: 0; }
.explorer .quiet { color: var(--ds-text-muted, #566074); font-size: 13px; }
.explorer .pill { padding: 1px 8px; border-radius: 999px; background: var(--ds-tag-bg, #e8ebf0); color: var(--ds-tag-text, #414b5e); font-size: 12px; }
.explorer label { display: grid; gap: 6px; color: var(--ds-text-secondary, #3c4658); font-size: 13px; }
.explorer textarea { width: 100%; min-height: 96px; padding: 10px 12px; border: 1px solid var(--ds-border-strong, #858fa2); border-radius: 8px; resize: vertical;
  background: var(--ds-panel-bg, #fff); color: inherit; font: 13px/1.5 var(--ds-mono, monospace); }
.explorer input[type="search"] { min-height: 32px; padding: 0 10px; border: 1px solid var(--ds-border-strong, #858fa2); border-radius: 8px; background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; }
.explorer .button { min-height: 32px; padding: 0 14px; border: 1px solid var(--ds-floating-border, #d9dee6); border-radius: 8px; background: var(--ds-panel-bg, #fff);
  color: inherit; font: inherit; font-weight: 500; white-space: nowrap; cursor: pointer; }
.explorer .button:not(.primary):hover:not(:disabled) { background: var(--ds-subtle-bg, #eef0f4); }
.explorer .button.primary:hover:not(:disabled) { background: var(--ds-accent-hover, #274fb0); }
.explorer .button.primary { border-color: transparent; background: var(--ds-accent, #2f5fd0); color: var(--ds-on-accent, #fff); }
.explorer .button:disabled { opacity: .55; cursor: default; }
.explorer :focus-visible { outline: 2px solid var(--ds-focus-ring, #2f5fd0); outline-offset: 1px; }
.explorer .row { display: flex; flex-wrap: wrap; gap: 8px 10px; align-items: center; }
.explorer .answer { border: 1px solid var(--ds-code-border, #e0e4eb); border-radius: 10px; overflow: hidden; background: var(--ds-code-bg, #f3f5f8); }
.explorer .answer header { display: flex; gap: 10px; align-items: center; padding: 6px 12px; border-bottom: 1px solid var(--ds-code-border, #e0e4eb); color: var(--ds-text-muted, #566074); font-size: 12px; }
.explorer .answer.refused header { background: var(--ds-change-bg-error, #fdeceb); color: var(--ds-danger-text, #a4201a); }
.explorer .answer.fine header { background: var(--ds-change-bg-success, #e5f5ea); color: var(--ds-success-text, #14663a); }
.explorer pre { max-height: 60vh; margin: 0; padding: 12px; overflow: auto; color: var(--ds-code-text, #1e2738); font: 12.5px/1.55 var(--ds-mono, monospace); white-space: pre-wrap; overflow-wrap: anywhere; }
.explorer .feed { display: grid; gap: 10px; padding: 16px; }
.explorer .tokens { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(250px, 100%), 1fr)); gap: 8px; padding: 16px; }
.explorer .token { display: flex; gap: 10px; align-items: center; min-width: 0; padding: 8px 10px; border: 1px solid var(--ds-panel-border, #e1e5eb); border-radius: 8px; background: var(--ds-panel-bg, #fff); }
.explorer .token i { flex: none; width: 26px; height: 26px; border: 1px solid var(--ds-splitter-bg, #d5dae3); border-radius: 6px; }
.explorer .token span { display: grid; min-width: 0; }
.explorer .token code { overflow: hidden; font: 12px/1.4 var(--ds-mono, monospace); text-overflow: ellipsis; white-space: nowrap; }
.explorer .empty { margin: 40px auto; max-width: 44ch; text-align: center; color: var(--ds-text-muted, #566074); }
.explorer.narrow .detail { padding: 14px; }
@media (max-width: 640px) {
  .explorer .split { grid-template-columns: 1fr; grid-template-rows: minmax(130px, 34%) minmax(0, 1fr); }
  .explorer .side { border-inline-end: 0; border-bottom: 1px solid var(--ds-panel-border, #ddd); }
  .explorer .detail { padding: 16px; }
}
`;
