//zh 完整视图：左边目录树和搜索，右边编辑和预览。
//en The full view: tree and search on the left, editor and preview on the right.

import { promptDialog } from '../../common/ui/dialog.mjs';
import { addStyle, fill, h } from '../../common/ui/dom.mjs';
import { createDsPathTreeView } from '../../common/ui/ds-tree-view.mjs';
import { renderMarkdown } from '../../common/ui/markdown.mjs';
import { toast } from '../../common/ui/toast.mjs';
import { words } from './words.mjs';

const STYLE = `
.pad { display: grid; grid-template-columns: minmax(180px, 260px) minmax(0, 1fr); gap: 16px; height: 100%; padding: 12px; box-sizing: border-box; color: var(--ds-text-primary, #182031); }
.pad aside, .pad main { display: flex; flex-direction: column; gap: 8px; min-height: 0; }
.pad .tree { flex: 1; overflow: auto; }
.pad .row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
.pad :is(input, textarea, button) { border: 1px solid var(--ds-border-strong, #8a93a3); border-radius: 8px; background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; }
.pad input { min-height: 32px; padding: 0 10px; }
.pad button { min-height: 32px; padding: 0 12px; cursor: pointer; }
.pad textarea { flex: 1; padding: 10px; resize: none; }
.pad .preview { flex: 1; overflow: auto; }
@media (width < 600px) { .pad { grid-template-columns: 1fr; grid-template-rows: 40% 1fr; } }
`;

/** @param {import('../../types/host').MountArguments} given */
export function mount({ container, host, slots }) {
  addStyle('pad', STYLE);
  const t = words(host.context.get().lang);
  const call = (method, params) => host.backend.invoke(method, params);
  let notes = [];
  let folders = [];
  let open = null;
  let query = '';

  const treeBox = h('div', { class: 'tree', 'aria-label': t.tree });
  const search = h('input', { type: 'search', placeholder: t.search, 'aria-label': t.search, oninput: () => { query = search.value; void guard(refresh)(); } });
  const text = h('textarea', { 'aria-label': t.text });
  const preview = h('div', { class: 'preview', 'aria-label': t.preview });
  const main = h('main', {});

  //zh 失败时说明原因；页面继续可用。
  //en A failure says why; the page stays usable.
  const guard = (run) => async (...given) => {
    try {
      await run(...given);
    } catch (error) {
      toast(error.message, { kind: 'error' });
    }
  };

  const isNote = (key) => notes.some((note) => note.id === key);
  const tree = createDsPathTreeView({
    container: treeBox,
    getLabel: (key) => (key === '' ? t.tree : notes.find((note) => note.id === key)?.title ?? key.split('/').at(-1)),
    getTitle: (key) => key,
    getIconClass: (key) => (key === '' ? 'ds-tree-icon-home' : isNote(key) ? 'ds-tree-icon-note' : 'ds-tree-icon-folder'),
    getSortMeta: (key) => ({ group: isNote(key) ? 1 : 0, label: key }),
    onSelect: guard(async (key) => (isNote(key) ? show(key) : tree.toggleExpanded(key))),
    onContextMenu: guard(async (_event, key) => { if (key !== '') await remove(key); }),
  });

  async function refresh() {
    const found = query.trim() === '' ? await call('notes.list') : await call('notes.search', { query });
    notes = found.notes;
    folders = query.trim() === '' ? (await call('folders.list')).folders : [];
    tree.render({ paths: [...folders, ...notes.map((note) => note.id)], selectedKey: open?.id ?? null });
    if (query.trim() !== '') tree.expandAll();
  }

  async function show(id) {
    open = await call('notes.get', { id });
    text.value = open.text;
    draw();
  }

  async function create(kind) {
    const name = await promptDialog({ title: kind === 'note' ? t.newNote : t.newFolder, label: t.name });
    if (!name?.trim()) return;
    if (kind === 'note') {
      await call('notes.create', { id: name.trim(), text: `# ${name.trim().split('/').at(-1)}\n` });
      await show(name.trim());
    } else {
      await call('folders.create', { path: name.trim() });
    }
    await refresh();
  }

  async function save() {
    open = await call('notes.update', { id: open.id, text: text.value });
    toast(t.saved);
    draw();
    await refresh();
  }

  //zh 删除前用宿主的问题确认：它会出现在“需要你”中，别的设备上也能回答。
  //en Before deleting, the host asks: the question is in “Needs you” and can be answered anywhere.
  async function remove(key) {
    const { requestId } = await host.uiPrompts.request({
      prompt: { kind: 'choice', title: t.sure(key), options: [{ value: 'yes', label: t.remove }, { value: 'no', label: t.keep }], default: 'no' },
    });
    host.uiPrompts.open();
    const answer = await host.uiPrompts.wait(requestId);
    if (answer.status !== 'ok' || answer.selection !== 'yes') return;
    if (isNote(key)) await call('notes.delete', { id: key });
    else await call('folders.delete', { path: key });
    if (open?.id === key) open = null;
    draw();
    await refresh();
  }

  function draw() {
    if (!open) {
      fill(main, h('p', {}, t.empty));
      return;
    }
    fill(preview, renderMarkdown(text.value));
    fill(main,
      h('div', { class: 'row' }, h('strong', {}, open.title), h('span', {}, open.tags.map((tag) => `#${tag}`).join(' ')),
        h('button', { type: 'button', onclick: guard(save) }, t.save),
        h('button', { type: 'button', onclick: guard(() => remove(open.id)) }, t.remove)),
      text, preview);
  }

  text.addEventListener('input', () => fill(preview, renderMarkdown(text.value)));
  slots.header.textContent = "__PLUGIN_NAME__";
  fill(container, h('div', { class: 'pad' },
    h('aside', {},
      h('div', { class: 'row' },
        h('button', { type: 'button', onclick: guard(() => create('note')) }, t.newNote),
        h('button', { type: 'button', onclick: guard(() => create('folder')) }, t.newFolder)),
      search, treeBox),
    main));
  draw();
  void guard(refresh)();
  return () => container.replaceChildren();
}
