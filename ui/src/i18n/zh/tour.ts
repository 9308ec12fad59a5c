// “第一分钟”的文字。

import type { tour as english } from '../en/tour';

export const tour: typeof english = {
  headline: '在这台电脑上运行 AI 智能体和应用',
  promise: '要紧的事，你点头才做。',
  cards: {
    file: { title: '让智能体修改文件', text: '先看改动，再同意，还能撤销。全程在一个空文件夹里进行。' },
    app: { title: '打开一个应用', text: '“笔记”直接在这里运行，智能体也能使用它的工具。' },
    question: { title: '回答一个问题', text: '某个程序向你提问。你回答之前，它一直留在待办里。' },
  },
  agent: '试用',
  fileMessage: '给我看一个需要同意的文件改动',
  question: {
    title: '你想先做什么？',
    message: '这个问题来自一个程序，会在这里等你回答。',
    options: [
      { value: '写代码', label: '写代码' },
      { value: '整理笔记和任务', label: '整理笔记和任务' },
      { value: '随便看看', label: '随便看看' },
    ],
  },
  told: (text: string) => `程序收到了你的回答：${text}`,
  model: {
    title: '添加模型，获得真正的回答',
    text: '可以是这台电脑上的，也可以用密钥或地址接入。',
    add: '添加模型',
    found: '在这台电脑上找到',
  },
  added: (name: string) => `已添加 ${name}，新对话会使用它。`,
  progress: (done: number, of: number) => `已完成 ${done}/${of}`,
  steps: '入门步骤',
  stepNames: { file: '修改文件', app: '打开应用', question: '回答问题', model: '添加模型', chat: '与它对话' },
  done: '已完成',
  hide: '隐藏入门步骤',
};
