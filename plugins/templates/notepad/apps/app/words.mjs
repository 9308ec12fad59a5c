//zh 页面上的文字，两种语言。
//en The words of the page, in two languages.

export function words(lang) {
  const say = (zh, en) => (lang === 'zh' ? zh : en);
  return {
    newNote: say('新建笔记', 'New note'),
    newFolder: say('新建文件夹', 'New folder'),
    name: say('名称，例如 work/plan', 'Name, such as work/plan'),
    search: say('搜索', 'Search'),
    save: say('保存', 'Save'),
    remove: say('删除', 'Delete'),
    keep: say('保留', 'Keep'),
    sure: (id) => say(`删除“${id}”？`, `Delete “${id}”?`),
    preview: say('预览', 'Preview'),
    text: say('内容', 'Text'),
    saved: say('已保存', 'Saved'),
    empty: say('选择一条笔记，或新建一条。', 'Choose a note, or make one.'),
    tree: say('笔记', 'Notes'),
  };
}
