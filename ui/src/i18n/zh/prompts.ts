// 待办中心与队列页面的文字。

import type { prompts as source } from '../en/prompts';

export const prompts: typeof source = {
  queueTitle: '队列',
  hub: '待办中心',
  hubLabel: (needsYou, results) => {
    const waiting = needsYou === 0 ? '没有需要你处理的事' : `${needsYou} 件事需要你处理`;
    return results === 0 ? `待办中心：${waiting}` : `待办中心：${waiting}，${results} 条未读结果`;
  },
  tabs: { needsYou: '需要你', results: '结果', history: '历史' },
  empty: {
    needsYou: '没有需要你处理的事。应用、工具或其他程序提出的问题会一直在这里等你回答。',
    results: '没有结果。耗时任务完成后的报告会出现在这里。',
    history: '没有历史。所有提问与回答以后都可以在这里找到。',
  },
  openQueue: '打开队列',
  queueEmpty: '没有需要你处理的事。应用、工具或其他程序提出的问题会一直在这里等你回答。',
  queueButton: '确认相关设置',
  exampleIntro: '修改文件之前先询问你：',
  example: 'chatos settings set confirmFileChanges true',
};
