// The path tree: what it shows, which keys it answers, what survives a new drawing.

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DS_TREE_STYLES } from './ds-tree-styles';
import { createDsPathTreeView, type DsPathTreeOptions } from './ds-tree-view';

let container: HTMLElement;
beforeEach(() => {
  document.body.replaceChildren();
  container = document.body.appendChild(document.createElement('div'));
});

const make = (options: Partial<DsPathTreeOptions> = {}) => createDsPathTreeView({ container, ...options });
const rows = () => [...container.querySelectorAll<HTMLElement>('.ds-tree-row')];
const keys = () => rows().map((row) => row.dataset['key']);
const row = (key: string) => {
  const found = rows().find((candidate) => candidate.dataset['key'] === key);
  if (!found) throw new Error(`no row ${key}`);
  return found;
};
const press = (key: string) => {
  const target = document.activeElement ?? container;
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
  target.dispatchEvent(event);
  return event.defaultPrevented;
};

describe('the path tree', () => {
  test('without an element it says what is missing', () => {
    expect(() => createDsPathTreeView({} as DsPathTreeOptions)).toThrow('needs a container');
    expect(() => createDsPathTreeView(undefined as unknown as DsPathTreeOptions)).toThrow('needs a container');
    expect(() => make({ separator: '' })).toThrow('separator');
  });

  test('it draws once by itself, and every ancestor of a path exists', () => {
    const tree = make();
    expect(keys()).toEqual(['']);
    tree.render({ paths: ['work/2026/june', 'home', '/work//2026/may/'] });
    expect(keys()).toEqual(['', 'home', 'work']);
    tree.expandAll();
    expect(keys()).toEqual(['', 'home', 'work', 'work/2026', 'work/2026/june', 'work/2026/may']);
    expect(row('work/2026').style.getPropertyValue('--ds-tree-depth')).toBe('2');
    expect(row('work/2026').getAttribute('aria-level')).toBe('3');
    expect(row('work/2026').dataset['expanded']).toBe('1');
    expect(row('home').hasAttribute('aria-expanded')).toBe(false);
    expect(row('home').querySelector('.ds-tree-toggle-placeholder')).not.toBeNull();
  });

  test('labels, titles, pictures, order and another separator are the app’s', () => {
    const tree = make({
      separator: '.', includeRoot: false,
      getLabel: (key) => `<${key}>`, getTitle: (key) => `all of ${key}`, getIconClass: () => 'ds-tree-icon-note',
      getSortMeta: (key, node) => ({ group: node.children.length > 0 ? 0 : 1, label: key }),
    });
    tree.render({ paths: ['a', 'b.c', 'item10', 'item9'] });
    expect(keys()).toEqual(['b', 'a', 'item9', 'item10']);
    expect(row('a').querySelector('.ds-tree-label')?.textContent).toBe('<a>');
    expect(row('a').title).toBe('all of a');
    expect(row('a').querySelector('.ds-tree-icon-note')).not.toBeNull();
    const plain = make({ getSortMeta: (key) => (key === 'z' ? '0' : '1') });
    plain.render({ paths: ['a', 'z'] });
    expect(keys()).toEqual(['', 'z', 'a']);
  });

  test('what is open stays open, by the app and by the person', () => {
    const tree = make({ initialExpandedKeys: ['', 'a'] });
    tree.render({ paths: ['a/b/c'], selectedKey: 'a/b' });
    expect(keys()).toEqual(['', 'a', 'a/b']);
    expect(row('a/b').dataset['active']).toBe('1');
    row('a/b').querySelector<HTMLElement>('.ds-tree-toggle')?.click();
    expect(keys()).toContain('a/b/c');
    expect(tree.getExpandedKeys().sort()).toEqual(['', 'a', 'a/b']);
    tree.render({ paths: ['a/b/c', 'a/d'] });
    expect(keys()).toEqual(['', 'a', 'a/b', 'a/b/c', 'a/d']);
    expect(row('a/b').getAttribute('aria-selected')).toBe('true');
    tree.collapseAll();
    expect(keys()).toEqual(['', 'a']);
    tree.setExpandedKeys([]);
    expect(keys()).toEqual(['']);
    tree.toggleExpanded('');
    expect(keys()).toEqual(['', 'a']);
  });

  test('keys: arrows move and open, Enter selects, Space toggles, letters find', () => {
    const onSelect = vi.fn();
    const tree = make({ onSelect });
    tree.render({ paths: ['alpha/one', 'beta'] });
    row('').focus();
    for (const [key, focus] of [['ArrowDown', 'alpha'], ['ArrowRight', 'alpha'], ['ArrowRight', 'alpha/one'], ['ArrowLeft', 'alpha'], ['b', 'beta'], ['Home', ''], ['End', 'beta'], ['ArrowDown', 'beta'], ['ArrowUp', 'alpha/one']] as const) {
      expect(press(key), key).toBe(true);
      expect((document.activeElement as HTMLElement).dataset['key'], key).toBe(focus);
    }
    press('ArrowLeft');
    press(' ');
    expect(keys()).toEqual(['', 'alpha', 'beta']);
    expect(onSelect).not.toHaveBeenCalled();
    press('Enter');
    expect(onSelect).toHaveBeenCalledExactlyOnceWith('alpha');
    expect((document.activeElement as HTMLElement).dataset['key']).toBe('alpha');
    expect(press('Tab')).toBe(false);
  });

  test('a click selects, the other button asks for a menu, and a handler that fails stops nothing', async () => {
    const said = vi.spyOn(window.console, 'error').mockImplementation(() => undefined);
    const onContextMenu = vi.fn((_event: MouseEvent, _key: string) => { throw new Error('mine'); });
    const tree = make({ onSelect: () => Promise.reject(new Error('later')), onContextMenu });
    tree.render({ paths: ['a'] });
    row('a').click();
    expect(row('a').dataset['active']).toBe('1');
    const event = new MouseEvent('contextmenu', { bubbles: true, cancelable: true });
    row('a').dispatchEvent(event);
    expect(event.defaultPrevented).toBe(true);
    expect(onContextMenu.mock.calls[0]?.[1]).toBe('a');
    await vi.waitFor(() => expect(said).toHaveBeenCalledTimes(2));
  });

  test('the place one scrolled to survives a new drawing', () => {
    const tree = make();
    tree.render({ paths: Array.from({ length: 100 }, (_, index) => `n${index}`) });
    container.scrollTop = 120;
    tree.render({ selectedKey: 'n5' });
    expect(container.scrollTop).toBe(120);
  });

  test('its styles set every variable and stay below the tree', () => {
    make();
    expect(document.head.querySelectorAll('style[data-chatos="ds-tree"]')).toHaveLength(1);
    for (const name of ['row-height', 'row-radius', 'indent', 'padding-x', 'gap', 'hover-bg', 'selected-bg', 'selected-shadow', 'toggle-size']) {
      expect(DS_TREE_STYLES).toContain(`--ds-tree-${name}:`);
    }
    for (const name of ['chevron', 'folder', 'home', 'note', 'new-folder', 'new-note']) expect(DS_TREE_STYLES).toContain(`.ds-tree .ds-tree-icon-${name} `);
    for (const line of DS_TREE_STYLES.split('\n').filter((text) => /^\S.*\{/.test(text))) expect(line).toMatch(/^(\.ds-tree|@media)/);
  });
});
