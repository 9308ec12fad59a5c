// 设置 › 帮助 的文字。

import type { help as english } from '../en/help';

export const help: typeof english = {
  contents: '本指南内容',
  open: (page: string) => `打开“${page}”`,
  more: '带图片的指南和 ChatOS 的其他文档，都在源代码的 `docs` 文件夹里，可以从 `docs/guide.zh-CN.md` 看起。',
};
