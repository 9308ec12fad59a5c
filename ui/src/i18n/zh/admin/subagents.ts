// Chinese texts of the subagents page.

import type { subagents as en } from '../../en/admin/subagents';

export const subagents: typeof en = {
  tab: '子智能体',
  intro: '智能体可以启动的子智能体，都是以普通文件保存的智能体、技能和命令。能用什么，取决于启动它的智能体的授权配置中为子智能体规定的部分。',
  empty: '目录是空的',
  exampleIntro: '可以导入含 agents/*.md、skills/*/SKILL.md 或 commands/*.md 的文件夹。',
  example: '例如 agents/reviewer.md',
  import: '导入文件夹…',
  search: '搜索目录',
  enabled: '启用',
  agents: (n) => `${n} 个智能体`,
  skills: (n) => `${n} 个技能`,
  commands: (n) => `${n} 个命令`,
  agentsTitle: '智能体',
  skillsTitle: '技能',
  commandsTitle: '命令',
  sources: { builtin: '内置', user: '已导入', import: '已导入' },
  show: '查看内容',
  turn: (name) => `目录中的 ${name}`,
  removeText: '它的文件会从状态文件夹中删除。来源文件夹不受影响。',
  importer: {
    title: '导入子智能体',
    path: '主机所在电脑上的文件夹',
    pathHint: '含 agents/*.md、skills/*/SKILL.md、commands/*.md 或 plugin.json。写入之前会全部检查。',
    pathNeeded: '请填写文件夹。',
    look: '预览',
    files: (n) => `${n} 个文件`,
    trustNote: '这些文本会指示使用你的工具的模型。请只导入你读过并信任的内容。',
    trust: '我已读过并信任它',
    apply: '信任并导入',
    other: '重新开始',
    done: (name) => `已导入：${name}`,
  },
};
