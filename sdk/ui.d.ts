// Front-end modules the host gives to apps, under `common/ui/` beside and above the plugin's own files:
//
//   import { createTree } from '../common/ui/tree.mjs';
//
// A plugin file of the same name wins. They hold no data and follow the theme by the --ds-* variables.

import type { Host } from './host';

type Child = Node | string | null | undefined | false;

declare module '*/common/ui/host.mjs' {
  /** The same as `mount` is given, for code that runs while a module is imported. */
  export const host: Host;
}

declare module '*/common/ui/dom.mjs' {
  export function h(tag: string, properties?: Record<string, unknown>, ...children: (Child | Child[])[]): HTMLElement;
  export function fill(element: Element, ...children: (Child | Child[])[]): void;
  export function addStyle(name: string, css: string): void;
  export function say(zh: string, en: string): string;
}

declare module '*/common/ui/dialog.mjs' {
  export interface DialogOptions {
    title: string;
    message?: string;
    content?: Child[];
    confirmLabel?: string;
    /** Empty for a dialog with one button. */
    cancelLabel?: string;
    danger?: boolean;
  }
  export function openDialog<T>(options: DialogOptions, result: () => T): Promise<T | null>;
  export function confirmDialog(options: DialogOptions): Promise<boolean>;
  export function promptDialog(options: DialogOptions & { label?: string; value?: string; placeholder?: string }): Promise<string | null>;
}

declare module '*/common/ui/toast.mjs' {
  export function toast(message: string, options?: { kind?: 'info' | 'error'; ms?: number }): void;
}

declare module '*/common/ui/markdown.mjs' {
  /** Safe for text of anybody: no raw HTML, no remote pictures. */
  export function renderMarkdown(source: string): HTMLElement;
}

declare module '*/common/ui/tree.mjs' {
  export interface TreeItem {
    id: string;
    label: string;
    icon?: string;
    badge?: string;
    /** Present, even if empty, for what can be opened. */
    children?: TreeItem[];
  }
  export interface TreeOptions {
    items: TreeItem[];
    label: string;
    selected?: string | null;
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
  export function createTree(options: TreeOptions): Tree;
}

declare module '*/common/ui/ds-tree-view.mjs' {
  export interface DsPathNode {
    /** The path, `''` for the root. */
    readonly key: string;
    readonly name: string;
    readonly children: readonly DsPathNode[];
  }
  export interface DsPathTreeOptions {
    /** Becomes the tree itself. */
    container: HTMLElement;
    /** Default `'/'`. */
    separator?: string;
    /** Default true. */
    includeRoot?: boolean;
    /** Default `['']`: the root is open. */
    initialExpandedKeys?: string[];
    getLabel?: (key: string) => string;
    getTitle?: (key: string) => string;
    /** Such as `ds-tree-icon-note`; `''` for no picture. */
    getIconClass?: (key: string) => string;
    getSortMeta?: (key: string, node: DsPathNode) => { group?: number | string; label?: string } | string | null | undefined;
    onSelect?: (key: string) => unknown;
    onContextMenu?: (event: MouseEvent, key: string) => unknown;
  }
  export interface DsPathTree {
    /** What is left out stays as it was. */
    render(state?: { paths?: Iterable<string>; selectedKey?: string | null }): void;
    expandAll(): void;
    collapseAll(): void;
    toggleExpanded(key: string): void;
    setExpandedKeys(keys: Iterable<string>): void;
    getExpandedKeys(): string[];
  }
  /** A tree of paths: every folder on the way to a path exists by itself. */
  export function createDsPathTreeView(options: DsPathTreeOptions): DsPathTree;
}

declare module '*/common/ui/ds-tree-styles.mjs' {
  /** Styles below `.ds-tree`, as text. The tree view brings them by itself. */
  export const DS_TREE_STYLES: string;
}
