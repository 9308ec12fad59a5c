// Chinese texts of the pages that administer servers, models and agents.

import type { admin as en } from '../en/admin';
import { agents } from './admin/agents';
import { give } from './admin/give';
import { land } from './admin/land';
import { models } from './admin/models';
import { programs } from './admin/programs';
import { servers } from './admin/servers';
import { subagents } from './admin/subagents';

export const admin: typeof en = {
  common: {
    add: '添加',
    edit: '编辑',
    remove: '删除',
    removeTitle: (name) => `删除“${name}”？`,
    saveChanges: '保存更改',
    discard: '放弃更改',
    saved: (name) => `已保存：${name}`,
    removed: (name) => `已删除：${name}`,
    name: '名称',
    nameNeeded: '请填写名称。',
    description: '说明',
    notFound: '它已不存在。',
    search: '搜索',
    noMatch: (text) => `没有与“${text}”匹配的内容`,
    chooseFile: '选择文件…',
    main: '对话中',
    sub: '作为子智能体',
    role: '使用方式',
    roleMain: '对话中',
    roleSub: '作为子智能体',
    builtin: '内置',
    locked: '已锁定',
    langAuto: '自动',
    langZh: '中文',
    langEn: 'English',
    language: '文本语言',
    more: '更多',
    fixes: (n) => `有 ${n} 处需要修改`,
    advanced: '高级',
    notJson: '这不是 JSON 对象。',
    number: '请输入数字。',
  },
  servers,
  models,
  agents,
  give,
  land,
  programs,
  subagents,
};
