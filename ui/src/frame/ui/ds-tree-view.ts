// A tree of paths, as apps made for earlier hosts import it (packages §10.2): the app gives paths, every folder on
// the way exists by itself, and what is open stays open from one drawing to the next.

import { addStyle, h } from './dom';
import { DS_TREE_STYLES } from './ds-tree-styles';
import { treeAct } from './tree-keys';

export interface DsPathNode {
  /** The path, `''` for the root. */
  readonly key: string;
  /** Its last part. */
  readonly name: string;
  readonly children: readonly DsPathNode[];
}

type Handled = unknown;

export interface DsPathTreeOptions {
  container: HTMLElement;
  separator?: string;
  includeRoot?: boolean;
  initialExpandedKeys?: string[];
  getLabel?: (key: string) => string;
  getTitle?: (key: string) => string;
  getIconClass?: (key: string) => string;
  getSortMeta?: (key: string, node: DsPathNode) => { group?: number | string; label?: string } | string | null | undefined;
  onSelect?: (key: string) => Handled;
  onContextMenu?: (event: MouseEvent, key: string) => Handled;
}

export interface DsPathTree {
  render(state?: { paths?: Iterable<string>; selectedKey?: string | null }): void;
  expandAll(): void;
  collapseAll(): void;
  toggleExpanded(key: string): void;
  setExpandedKeys(keys: Iterable<string>): void;
  getExpandedKeys(): string[];
}

interface Node {
  key: string;
  name: string;
  children: Node[];
}

interface Row {
  node: Node;
  depth: number;
  label: string;
}

export function createDsPathTreeView(options: DsPathTreeOptions): DsPathTree {
  const container = options?.container as unknown;
  if (!(container instanceof HTMLElement)) throw new TypeError('createDsPathTreeView needs a container element');
  const { separator = '/', includeRoot = true, initialExpandedKeys = [''] } = options;
  if (typeof separator !== 'string' || separator === '') throw new TypeError('separator must be a text that is not empty');

  // In a layer, so that whatever an app writes about the tree wins, whichever came first.
  addStyle('ds-tree', `@layer chatos { ${DS_TREE_STYLES} }`);
  container.classList.add('ds-tree');
  container.setAttribute('role', 'tree');

  const expanded = new Set<string>(initialExpandedKeys.map(String));
  let paths: string[] = [];
  let selected: string | null = null;
  let focused: string | null = null;
  let rows: Row[] = [];

  /** Handlers belong to the app: what they throw or reject is told to the console and stops nothing here. */
  function tell(handler: () => Handled): void {
    const failed = (error: unknown) => window.console.error('tree handler:', error);
    try {
      void Promise.resolve(handler()).catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  function labelOf(node: Node): string {
    const given = options.getLabel?.(node.key);
    if (given !== undefined && given !== null && String(given) !== '') return String(given);
    return node.key === '' ? separator : node.name;
  }

  function order(node: Node): { group: number | string; label: string } {
    const meta = options.getSortMeta?.(node.key, node);
    if (typeof meta === 'string') return { group: 0, label: meta };
    return { group: meta?.group ?? 0, label: meta?.label ?? labelOf(node) };
  }

  function byOrder(one: Node, other: Node): number {
    const [a, b] = [order(one), order(other)];
    const group = typeof a.group === 'number' && typeof b.group === 'number'
      ? a.group - b.group
      : String(a.group).localeCompare(String(b.group), undefined, { numeric: true });
    return group || a.label.localeCompare(b.label, undefined, { numeric: true }) || one.key.localeCompare(other.key);
  }

  /** The tree of the paths; parts that are empty do not count. */
  function grow(): Node {
    const root: Node = { key: '', name: '', children: [] };
    const known = new Map<string, Node>([['', root]]);
    for (const path of paths) {
      let parent = root;
      for (const name of path.split(separator).filter((part) => part !== '')) {
        const key = parent.key === '' ? name : `${parent.key}${separator}${name}`;
        let node = known.get(key);
        if (!node) {
          node = { key, name, children: [] };
          known.set(key, node);
          parent.children.push(node);
        }
        parent = node;
      }
    }
    for (const node of known.values()) node.children.sort(byOrder);
    return root;
  }

  function list(node: Node, depth: number, found: Row[]): void {
    found.push({ node, depth, label: labelOf(node) });
    if (expanded.has(node.key)) for (const child of node.children) list(child, depth + 1, found);
  }

  function draw(): void {
    const box = container as HTMLElement;
    const hadFocus = box.contains(document.activeElement);
    const { scrollTop, scrollLeft } = box;
    const root = grow();
    rows = [];
    if (includeRoot) list(root, 0, rows);
    else for (const child of root.children) list(child, 0, rows);
    const elements = rows.map(element);
    box.replaceChildren(...elements);
    const at = [focused, selected].map((key) => rows.findIndex((row) => row.node.key === key)).find((index) => index >= 0) ?? 0;
    const current = elements[at];
    if (current) {
      current.tabIndex = 0;
      if (hadFocus) current.focus({ preventScroll: true });
    }
    box.scrollTop = scrollTop;
    box.scrollLeft = scrollLeft;
  }

  function element({ node, depth, label }: Row): HTMLElement {
    const branch = node.children.length > 0;
    const open = branch && expanded.has(node.key);
    const toggle = branch
      ? h('span', { class: 'ds-tree-toggle', 'aria-hidden': 'true', onclick: (event: MouseEvent) => {
        event.stopPropagation();
        focused = node.key;
        toggleExpanded(node.key);
      } }, h('span', { class: 'ds-tree-icon ds-tree-icon-chevron' }))
      : h('span', { class: 'ds-tree-toggle-placeholder', 'aria-hidden': 'true' });
    const icon = options.getIconClass?.(node.key) ?? (node.key === '' ? 'ds-tree-icon-home' : 'ds-tree-icon-folder');
    const active = node.key === selected;
    const row = h('div', {
      class: 'ds-tree-row', role: 'treeitem', tabindex: -1, title: options.getTitle?.(node.key) || undefined,
      'data-key': node.key, 'data-active': active ? '1' : '0', 'data-expanded': open ? '1' : '0',
      'aria-level': depth + 1, 'aria-selected': String(active), 'aria-expanded': branch ? String(open) : undefined,
    }, toggle, icon === '' ? null : h('span', { class: `ds-tree-icon ${icon}`, 'aria-hidden': 'true' }), h('span', { class: 'ds-tree-label' }, label));
    row.style.setProperty('--ds-tree-depth', String(depth));
    return row;
  }

  function keyOf(event: Event): string | null {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>('.ds-tree-row') : null;
    return row?.dataset['key'] ?? null;
  }

  function choose(key: string): void {
    focused = key;
    selected = key;
    draw();
    tell(() => options.onSelect?.(key));
  }

  function toggleExpanded(key: string): void {
    if (!expanded.delete(key)) expanded.add(key);
    draw();
  }

  function focusRow(at: number): void {
    const all = (container as HTMLElement).querySelectorAll<HTMLElement>('.ds-tree-row');
    for (const other of all) other.tabIndex = -1;
    const row = all[at];
    if (!row) return;
    focused = rows[at]?.node.key ?? null;
    row.tabIndex = 0;
    row.focus();
  }

  function onKey(event: KeyboardEvent): void {
    const key = keyOf(event);
    const at = rows.findIndex((row) => row.node.key === key);
    const current = rows[at];
    if (!current) return;
    const { node } = current;
    const act = treeAct(event, {
      at, count: rows.length, branch: node.children.length > 0, open: expanded.has(node.key),
      levelOf: (row) => rows[row]?.depth ?? 0,
      labelOf: (row) => rows[row]?.label ?? '',
    });
    if (!act) return;
    event.preventDefault();
    focused = node.key;
    if (act.kind === 'move') focusRow(act.to);
    else if (act.kind === 'enter') choose(node.key);
    else if (act.kind !== 'stay' && node.children.length > 0) toggleExpanded(node.key);
  }

  container.addEventListener('keydown', onKey);
  container.addEventListener('click', (event) => {
    const key = keyOf(event);
    if (key !== null) choose(key);
  });
  container.addEventListener('contextmenu', (event) => {
    const key = keyOf(event);
    if (key === null || !options.onContextMenu) return;
    event.preventDefault();
    focused = key;
    tell(() => options.onContextMenu?.(event, key));
  });

  draw();
  return {
    render(state = {}) {
      if (state.paths !== undefined) paths = [...(state.paths ?? [])].map(String);
      if (state.selectedKey !== undefined) selected = state.selectedKey;
      draw();
    },
    expandAll() {
      const all = (node: Node): void => {
        if (node.children.length > 0) expanded.add(node.key);
        node.children.forEach(all);
      };
      all(grow());
      draw();
    },
    // The root stays open: a tree of one row is of no use.
    collapseAll() {
      expanded.clear();
      expanded.add('');
      draw();
    },
    toggleExpanded: (key) => toggleExpanded(String(key)),
    setExpandedKeys(keys) {
      expanded.clear();
      for (const key of keys) expanded.add(String(key));
      draw();
    },
    getExpandedKeys: () => [...expanded],
  };
}
