// Styles of the path tree as text, for apps that put them into a page of their own (packages §10.2). Everything is
// below `.ds-tree`; sizes and colours are variables an app may set again.

/** A picture as a mask, so that it takes the colour of the text. */
function picture(path: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="none" stroke="#000" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">${path}</svg>`;
  return `url("data:image/svg+xml,${encodeURIComponent(svg)}")`;
}

const FOLDER = '<path d="M2 4.5c0-.6.4-1 1-1h3.2l1.5 1.6H13c.6 0 1 .4 1 1v6c0 .6-.4 1-1 1H3c-.6 0-1-.4-1-1z"/>';
const NOTE = '<path d="M4 2h5.5L12.5 5v9H4zM9.3 2.2V5.2h3M6 8.2h4.5M6 10.8h3"/>';
const PICTURES: Record<string, string> = {
  chevron: '<path d="M6 3.8 10.2 8 6 12.2"/>',
  folder: FOLDER,
  home: '<path d="M2.5 7.5 8 3l5.5 4.500M4 6.500V13h3V9.500h2V13h3V6.5"/>',
  note: NOTE,
  'new-folder': `${FOLDER}<path d="M8 7.300v4M6 9.300h4"/>`,
  'new-note': `${NOTE}<path d="M8 6v0"/><path d="M12.5 10.500v4M10.5 12.500h4"/>`,
};

const ICONS = Object.entries(PICTURES)
  .map(([name, path]) => `.ds-tree .ds-tree-icon-${name} { -webkit-mask-image: ${picture(path)}; mask-image: ${picture(path)}; }`)
  .join('\n');

export const DS_TREE_STYLES = `
.ds-tree {
  --ds-tree-row-height: 30px;
  --ds-tree-row-radius: 8px;
  --ds-tree-indent: 16px;
  --ds-tree-padding-x: 6px;
  --ds-tree-gap: 6px;
  --ds-tree-hover-bg: var(--ds-nav-hover-bg, #eef1f6);
  --ds-tree-selected-bg: var(--ds-selected-bg, #e4ebfb);
  --ds-tree-selected-shadow: inset 2px 0 0 var(--ds-accent, #2f5fd0);
  --ds-tree-toggle-size: 18px;
  display: block;
  color: var(--ds-text-primary, #182031);
}
.ds-tree .ds-tree-row {
  display: flex; align-items: center; gap: var(--ds-tree-gap); min-height: var(--ds-tree-row-height); box-sizing: border-box;
  padding: 0 var(--ds-tree-padding-x);
  padding-inline-start: calc(var(--ds-tree-padding-x) + var(--ds-tree-depth, 0) * var(--ds-tree-indent));
  border-radius: var(--ds-tree-row-radius); cursor: pointer; user-select: none; outline: none;
}
.ds-tree .ds-tree-row:hover { background: var(--ds-tree-hover-bg); }
.ds-tree .ds-tree-row[data-active="1"] { background: var(--ds-tree-selected-bg); box-shadow: var(--ds-tree-selected-shadow); }
.ds-tree .ds-tree-row:focus-visible { outline: 2px solid var(--ds-focus-ring, #2f5fd0); outline-offset: -2px; }
.ds-tree :is(.ds-tree-toggle, .ds-tree-toggle-placeholder) {
  flex: none; display: inline-grid; place-items: center; width: var(--ds-tree-toggle-size); height: var(--ds-tree-toggle-size);
}
.ds-tree .ds-tree-toggle { padding: 0; border: 0; border-radius: 6px; background: none; color: var(--ds-text-muted, #566074); cursor: pointer; }
.ds-tree .ds-tree-toggle .ds-tree-icon { transition: transform .12s; }
.ds-tree .ds-tree-row[data-expanded="1"] > .ds-tree-toggle .ds-tree-icon { transform: rotate(90deg); }
.ds-tree .ds-tree-icon {
  flex: none; display: inline-block; width: 16px; height: 16px; background: currentColor;
  -webkit-mask: center / contain no-repeat; mask: center / contain no-repeat;
}
.ds-tree .ds-tree-row > .ds-tree-icon { color: var(--ds-text-secondary, #3c475b); }
.ds-tree .ds-tree-label { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
@media (prefers-reduced-motion: reduce) { .ds-tree .ds-tree-toggle .ds-tree-icon { transition: none; } }
${ICONS}
`;
