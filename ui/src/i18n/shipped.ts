// Words for what comes with ChatOS, in both languages: permissions profiles, built-in servers, plugins with their
// apps, subagents, by their ids. `state/shipped.ts` puts them in place of the host's own.

import type { Language } from './index.svelte';

/** Name and description; without a name the thing keeps its own. A server keeps the name it is called by and has a title
    for people. */
interface Told {
  name?: string;
  title?: string;
  description: string;
}

export interface Shipped {
  profiles: Record<string, Told>;
  servers: Record<string, Told>;
  plugins: Record<string, Told>;
  /** By `pluginId/appId`. */
  apps: Record<string, Told>;
  /** By the id of a plugin of subagents, and by `plugin/agent`. */
  subagents: Record<string, Told>;
}

const en: Shipped = {
  profiles: {
    lc_safe_default: { name: 'Safe default', description: 'Reads the project, keeps tasks and the journal, and asks you. Can’t write files or run commands.' },
    lc_developer: { name: 'Developer', description: 'Everything in Safe default, plus file edits with your approval and commands in a sandbox.' },
  },
  servers: {
    project_files: { title: 'Read project files', description: 'Reads and searches files in the project folder' },
    code_writer: { title: 'Read and change files', description: 'Reads, searches and edits files in the project folder' },
    code_maintainer: { title: 'Maintain a code base', description: 'Reads, edits, moves and copies files in the project folder' },
    shell_tasks: { title: 'Run commands', description: 'Runs commands and terminal sessions in a sandbox' },
    lsp_bridge: { title: 'Understand code', description: 'Code navigation, diagnostics and refactoring through language servers' },
    task_manager: { title: 'Tasks', description: 'Lists, adds and updates tasks' },
    project_journal: { title: 'Project journal', description: 'Keeps notes about what was done in a project' },
    ui_prompter: { title: 'Ask you', description: 'Asks you questions through the inbox' },
    subagent_router: { title: 'Subagents', description: 'Hands work to subagents' },
    'com.chatos.notes.notes': { title: 'Notes', description: 'Lists, reads, writes, searches, deletes and exports Markdown notes' },
    'com.chatos.taskboard.board': { title: 'Task board', description: 'Views and pins for your tasks' },
    'com.chatos.taskboard.team': { title: 'Team board', description: 'The shared team board' },
  },
  plugins: {
    'com.chatos.notes': { name: 'Notes', description: 'Markdown notes in plain files, for you and your agents.' },
    'com.chatos.taskboard': { name: 'Task board', description: 'Your agents’ tasks as a board you can arrange.' },
    'com.chatos.explorer': { name: 'Host API explorer', description: 'Try every function of the Host API and see its result. For app authors.' },
  },
  apps: {
    'com.chatos.notes/notes': { name: 'Notes', description: 'Write, find and preview notes. Agents can use them too.' },
    'com.chatos.notes/daily': { name: 'Daily note', description: 'One page per day.' },
    'com.chatos.taskboard/board': { name: 'Task board', description: 'Your tasks in columns, with views and limits.' },
    'com.chatos.taskboard/focus': { name: 'Focus', description: 'Only tasks that are in progress or pinned.' },
    'com.chatos.taskboard/team': { name: 'Team board', description: 'One board shared by several agents on this computer. Off until you start its server.' },
    'com.chatos.explorer/explorer': { name: 'Host API explorer', description: 'Every function with its arguments and its result.' },
  },
  subagents: {
    'chatos-general': { name: 'General', description: 'Subagents for everyday work: research, planning and review.' },
    'chatos-general/researcher': { name: 'Researcher', description: 'Reads files and gathers facts to answer a question. Changes nothing.' },
    'chatos-general/planner': { name: 'Planner', description: 'Breaks work into ordered steps and names the risks.' },
    'chatos-general/reviewer': { name: 'Reviewer', description: 'Reviews text or code for mistakes and suggests fixes.' },
  },
};

const zh: Shipped = {
  profiles: {
    lc_safe_default: { name: '安全默认', description: '读取项目、管理任务和日志、向你提问；不能写文件，也不能运行命令。' },
    lc_developer: { name: '开发者', description: '包含“安全默认”的全部内容，另可编辑文件（需你同意），并在沙箱中运行命令。' },
  },
  servers: {
    project_files: { title: '读取项目文件', description: '读取和搜索项目文件夹中的文件' },
    code_writer: { title: '读取和修改文件', description: '读取、搜索和编辑项目文件夹中的文件' },
    code_maintainer: { title: '维护代码库', description: '读取、编辑、移动和复制项目文件夹中的文件' },
    shell_tasks: { title: '运行命令', description: '在沙箱中运行命令和终端会话' },
    lsp_bridge: { title: '理解代码', description: '通过语言服务器浏览代码、查看诊断和重构' },
    task_manager: { title: '任务', description: '列出、添加和更新任务' },
    project_journal: { title: '项目日志', description: '记录项目中做过的事' },
    ui_prompter: { title: '向你提问', description: '通过待办向你提问' },
    subagent_router: { title: '子智能体', description: '把工作交给子智能体' },
    'com.chatos.notes.notes': { title: '笔记', description: '列出、读取、写入、搜索、删除和导出 Markdown 笔记' },
    'com.chatos.taskboard.board': { title: '任务看板', description: '任务的视图与置顶' },
    'com.chatos.taskboard.team': { title: '团队看板', description: '共用的团队看板' },
  },
  plugins: {
    'com.chatos.notes': { name: '笔记', description: '以纯文件保存的 Markdown 笔记，你和智能体共用。' },
    'com.chatos.taskboard': { name: '任务看板', description: '把智能体的任务排成可以整理的看板。' },
    'com.chatos.explorer': { name: 'Host API 测试台', description: '试用 Host API 的每个函数并查看结果，面向应用作者。' },
  },
  apps: {
    'com.chatos.notes/notes': { name: '笔记', description: '写、找、预览笔记，智能体也能使用。' },
    'com.chatos.notes/daily': { name: '每日笔记', description: '每天一页。' },
    'com.chatos.taskboard/board': { name: '任务看板', description: '按列查看任务，支持视图和上限。' },
    'com.chatos.taskboard/focus': { name: '专注', description: '只看进行中和置顶的任务。' },
    'com.chatos.taskboard/team': { name: '团队看板', description: '本机多个智能体共用的看板，启动它的服务器后可用。' },
    'com.chatos.explorer/explorer': { name: 'Host API 测试台', description: '每个函数及其参数和结果。' },
  },
  subagents: {
    'chatos-general': { name: '通用', description: '日常工作的子智能体：查资料、做计划、审阅。' },
    'chatos-general/researcher': { name: '研究员', description: '阅读文件、收集事实来回答问题，不做任何更改。' },
    'chatos-general/planner': { name: '规划师', description: '把工作拆成有序的步骤，并指出风险。' },
    'chatos-general/reviewer': { name: '审阅者', description: '审阅文字或代码中的错误，并给出修改建议。' },
  },
};

/** Both languages, for the test that compares them. */
export const SHIPPED: Record<Language, Shipped> = { en, zh };
