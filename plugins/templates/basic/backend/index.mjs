//zh 后端：独立的 Node 进程，页面用 host.backend.invoke('方法') 调用。只写 ctx.dataDir。
//en The backend: a Node process of its own; the page calls it with host.backend.invoke('method'). Write to ctx.dataDir only.

/** @type {import('../types/backend').CreateUiAppsBackend} */
export async function createUiAppsBackend() {
  return {
    methods: {
      ping: (params) => ({ pong: params ?? null }),

      //zh ctx.llm 是用户配置的模型；没有配置时为 null。
      //en ctx.llm is the model the person configured; null when there is none.
      async summarize({ text }, ctx) {
        if (typeof text !== 'string' || text.trim() === '') throw Object.assign(new Error('text is required'), { code: 'invalid_argument' });
        if (!ctx.llm) throw Object.assign(new Error('no model is configured'), { code: 'unavailable' });
        const { content, model } = await ctx.llm.complete({ input: text, systemPrompt: 'Summarize in one sentence.' });
        return { summary: content, model };
      },
    },
    dispose() {
      //zh 关闭文件和计时器；最多三秒。
      //en Close files and timers here; there are three seconds for it.
    },
  };
}
