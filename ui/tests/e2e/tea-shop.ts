// The little project of the documents: a menu, and an agent that reads it and puts cocoa on it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Host } from './host';
import { lastOf, ModelServer } from './model-server';

export const SHOP = {
  en: {
    agent: 'Tea shop', model: 'Local model', ask: 'What is on our menu?', task: 'Put cocoa for 3.20 on the menu.',
    menu: '# Menu\n\n| drink | price |\n| --- | ---: |\n| Green tea | 3.00 |\n| Coffee | 3.50 |\n', from: '| Coffee | 3.50 |\n', to: '| Coffee | 3.50 |\n| Cocoa | 3.20 |\n',
    answer: 'Two drinks so far:\n\n| drink | price |\n| --- | ---: |\n| Green tea | 3.00 |\n| Coffee | 3.50 |\n\nTell me what to add, and I will show you the change first.', done: 'Done: cocoa is on the menu for **3.20**.',
    draft: '# Tea in spring\n\nA first draft.\n',
  },
  zh: {
    agent: '茶铺', model: '本机模型', ask: '我们的菜单上有什么？', task: '把可可加进菜单，定价 3.20。',
    menu: '# 菜单\n\n| 饮品 | 价格 |\n| --- | ---: |\n| 绿茶 | 3.00 |\n| 咖啡 | 3.50 |\n', from: '| 咖啡 | 3.50 |\n', to: '| 咖啡 | 3.50 |\n| 可可 | 3.20 |\n',
    answer: '目前有两种饮品：\n\n| 饮品 | 价格 |\n| --- | ---: |\n| 绿茶 | 3.00 |\n| 咖啡 | 3.50 |\n\n想加什么就告诉我，我会先把改动给你看。', done: '好了，可可已加入菜单，定价 **3.20**。',
    draft: '# 春茶\n\n初稿。\n',
  },
};
export type Shop = (typeof SHOP)['en'];

/** The project in the home of a host, a model that knows what to do, and a chat with an agent that works there. */
export async function teaShop(host: Host, shop: Shop): Promise<{ agent: string; chat: string; menu: string }> {
  const models = await ModelServer.start('');
  onTestFinished(() => models.stop());
  models.decide = (body) => {
    const messages = body.messages ?? [];
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const wants = lastOf({ messages: messages.slice(0, asked + 1) }).text.includes(shop.task);
    const called = messages.slice(asked + 1).some(({ role }) => role === 'tool');
    if (called) return { text: wants ? shop.done : shop.answer };
    return { call: wants ? { tool: 'edit_file', args: { path: 'menu.md', old_string: shop.from, new_string: shop.to } } : { tool: 'read_file', args: { path: 'menu.md' } } };
  };
  const workspaceRoot = join(host.home, 'tea-shop');
  mkdirSync(workspaceRoot);
  const menu = join(workspaceRoot, 'menu.md');
  writeFileSync(menu, shop.menu);
  const model = await host.api<{ id: string }>('POST', 'models', { name: shop.model, provider: 'openai', model: 'tiny', baseUrl: models.baseUrl, isDefault: true });
  const agent = await host.api<{ id: string }>('POST', 'agents', { name: shop.agent, mode: 'flow', landConfigId: 'lc_developer', modelId: model.id, workspaceRoot });
  const chat = await host.api<{ id: string }>('POST', 'sessions', { agentId: agent.id });
  return { agent: agent.id, chat: chat.id, menu };
}
