// A tree to choose from: folders that open and close, one selected item, the keys of every tree (arrows, Home,
// End, Enter, letters), and its own styles.

import { addStyle, h } from './dom';
import { treeAct } from './tree-keys';

const CSS = `
.chatos-tree, .chatos-tree ul { margin: 0; padding: 0; list-style: none; }
.chatos-tree { color: var(--ds-text-primary, #1c1c1e); outline: none; }
.chatos-tree .row { display: flex; align-items: center; gap: 6px; min-height: 28px; padding-inline-end: 8px; border-radius: 6px; cursor: pointer; user-select: none; }
.chatos-tree .row:hover { background: var(--ds-nav-hover-bg, #eee); }
.chatos-tree [aria-selected="true"] > .row { background: var(--ds-selected-bg, #e4ebfb); }
.chatos-tree [role="treeitem"]:focus-visible { outline: none; }
.chatos-tree [role="treeitem"]:focus-visible > .row { outline: 2px solid var(--ds-focus-ring, #2f5fd0); outline-offset: -2px; }
.chatos-tree .twist { flex: none; width: 16px; text-align: center; color: var(--ds-text-muted, #566074); transition: transform .12s; }
.chatos-tree [aria-expanded="true"] > .row > .twist { transform: rotate(90deg); }
.chatos-tree .label { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.chatos-tree .badge { color: var(--ds-text-muted, #566074); font-size: 12px; }
`;

export interface TreeItem {
  id: string;
  label: string;
  /** A short text before the label, such as an emoji. */
  icon?: string;
  /** A short text at the end. */
  badge?: string;
  /** Present, even if empty, for what can be opened. */
  children?: TreeItem[];
}

export interface TreeOptions {
  items: TreeItem[];
  label: string;
  selected?: string | null;
  /** Ids that are open at the start. */
  expanded?: string[];
  onSelect?: (id: string) => void;
  onToggle?: (id: string, expanded: boolean) => void;
}

export interface Tree {
  readonly element: HTMLElement;
  update(items: TreeItem[]): void;
  select(id: string | null): void;
  expand(id: string, expanded?: boolean): void;
}

export function createTree(options: TreeOptions): Tree {
  addStyle('tree', CSS);
  const expanded = new Set(options.expanded ?? []);
  let { items } = options;
  let selected = options.selected ?? null;
  let focused: string | null = null;
  const element = h('ul', { class: 'chatos-tree', role: 'tree', 'aria-label': options.label, onkeydown: onKey });

  function draw(): void {
    const hadFocus = element.contains(document.activeElement);
    element.replaceChildren(...items.map((item) => node(item, 1)));
    const current = visible().find((row) => row.dataset['id'] === focused) ?? find(selected) ?? visible()[0];
    if (!current) return;
    current.tabIndex = 0;
    if (hadFocus) current.focus();
  }

  function node(item: TreeItem, level: number): HTMLElement {
    const open = item.children !== undefined && expanded.has(item.id);
    const row = h('div', { class: 'row', onclick: () => press(item) },
      h('span', { class: 'twist', 'aria-hidden': 'true' }, item.children ? '›' : ''),
      item.icon ? h('span', { 'aria-hidden': 'true' }, item.icon) : null,
      h('span', { class: 'label' }, item.label),
      item.badge ? h('span', { class: 'badge' }, item.badge) : null);
    row.style.paddingInlineStart = `${(level - 1) * 16 + 4}px`;
    return h('li', {
      role: 'treeitem', 'data-id': item.id, 'aria-level': level, tabindex: -1, 'aria-selected': String(item.id === selected),
      'aria-expanded': item.children ? String(open) : undefined,
    }, row, open ? h('ul', { role: 'group' }, (item.children ?? []).map((child) => node(child, level + 1))) : null);
  }

  function visible(): HTMLElement[] {
    return [...element.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  }

  function find(id: string | null): HTMLElement | undefined {
    return id === null ? undefined : visible().find((row) => row.dataset['id'] === id);
  }

  function itemOf(id: string, list = items): TreeItem | undefined {
    for (const item of list) {
      const found = item.id === id ? item : itemOf(id, item.children ?? []);
      if (found) return found;
    }
    return undefined;
  }

  function press(item: TreeItem): void {
    focused = item.id;
    if (item.children) toggle(item.id, !expanded.has(item.id));
    choose(item.id);
  }

  function choose(id: string): void {
    selected = id;
    draw();
    options.onSelect?.(id);
  }

  function toggle(id: string, open: boolean): void {
    if (open === expanded.has(id)) return;
    if (open) expanded.add(id);
    else expanded.delete(id);
    draw();
    options.onToggle?.(id, open);
  }

  function move(row: HTMLElement | undefined): void {
    if (!row) return;
    for (const other of visible()) other.tabIndex = -1;
    focused = row.dataset['id'] ?? null;
    row.tabIndex = 0;
    row.focus();
  }

  function onKey(event: KeyboardEvent): void {
    const rows = visible();
    const at = rows.findIndex((row) => row === document.activeElement);
    const row = rows[at];
    const item = row && itemOf(row.dataset['id'] ?? '');
    if (!row || !item) return;
    const act = treeAct(event, {
      at, count: rows.length, branch: item.children !== undefined, open: expanded.has(item.id),
      levelOf: (other) => Number(rows[other]?.getAttribute('aria-level')),
      labelOf: (other) => itemOf(rows[other]?.dataset['id'] ?? '')?.label ?? '',
    });
    if (!act) return;
    event.preventDefault();
    focused = item.id;
    if (act.kind === 'move') move(rows[act.to]);
    else if (act.kind === 'open') toggle(item.id, true);
    else if (act.kind === 'close') toggle(item.id, false);
    else if (act.kind === 'enter') press(item);
    else if (act.kind === 'space') choose(item.id);
  }

  draw();
  return {
    element,
    update(next) {
      items = next;
      draw();
    },
    select(id) {
      selected = id;
      draw();
    },
    expand: (id, open = true) => toggle(id, open),
  };
}
