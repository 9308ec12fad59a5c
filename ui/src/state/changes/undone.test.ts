// An undo says what happened to the file, not that everything is "as before" (issue 21, fault 17).

import { expect, test } from 'vitest';
import { deeds as en } from '../../i18n/en/deeds';
import { deeds as zh } from '../../i18n/zh/deeds';
import { undoneText } from './undone';

test.each([
  [[{ path: 'src/hello.py', action: 'removed' as const }], 'Undone: hello.py removed', '已撤销：hello.py 已删除'],
  [[{ path: 'a.txt', action: 'restored' as const }], 'Undone: a.txt restored', '已撤销：a.txt 已恢复'],
  [[{ path: 'a.txt', action: 'recreated' as const }], 'Undone: a.txt recreated', '已撤销：a.txt 已重新创建'],
  [
    [{ path: 'a', action: 'removed' as const }, { path: 'b', action: 'restored' as const }, { path: 'c', action: 'removed' as const }],
    'Undone: 1 file restored · 2 files removed',
    '已撤销：1 个文件已恢复 · 2 个文件已删除',
  ],
])('%j', (steps, english, chinese) => {
  expect([undoneText(steps, en.undone), undoneText(steps, zh.undone)]).toEqual([english, chinese]);
});
