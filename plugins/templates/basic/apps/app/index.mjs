//zh 应用的页面。宿主在独立的 iframe 中调用 mount；这里返回的函数在关闭时运行。
//en The page of the app. The host calls mount inside a frame of its own; what it returns runs when the app closes.

import { addStyle, fill, h } from '../../common/ui/dom.mjs';
import { toast } from '../../common/ui/toast.mjs';

/** @param {import('../../types/host').MountArguments} given */
export function mount({ container, host, slots }) {
  //zh 语言、主题和界面大小会在不重新加载的情况下改变，所以每次绘制都重新读取。
  //en Language, theme and surface change without a reload, so they are read anew for every drawing.
  const say = (zh, en) => (host.context.get().lang === 'zh' ? zh : en);
  const output = h('output', { class: 'said' });
  const tell = (text) => fill(output, text);

  addStyle('page', `
    .page { display: grid; gap: 12px; padding: 16px; color: var(--ds-text-primary, #182031); }
    .page .row { display: flex; flex-wrap: wrap; gap: 8px; }
    .page button { min-height: 32px; padding: 0 12px; border: 1px solid var(--ds-border-strong, #8a93a3); border-radius: 8px;
      background: var(--ds-panel-bg, #fff); color: inherit; font: inherit; cursor: pointer; }
    .page .said { white-space: pre-wrap; overflow-wrap: anywhere; }
  `);

  //zh 每个按钮一个能力；失败时说明原因，而不是什么都不发生。
  //en One ability per button; a failure says why instead of nothing happening.
  const action = (label, run) => h('button', { type: 'button', onclick: async () => {
    try {
      await run();
    } catch (error) {
      toast(`${error.code ?? 'error'}: ${error.message}`, { kind: 'error' });
    }
  } }, label);

  async function ping() {
    const { pong } = await host.backend.invoke('ping', { from: host.context.get().appId });
    tell(say(`后端回答：${pong.from}`, `The backend answers: ${pong.from}`));
  }

  async function ask() {
    const { requestId } = await host.uiPrompts.request({
      prompt: { kind: 'kv', title: say('你叫什么名字？', 'What is your name?'), fields: [{ key: 'name', label: say('名字', 'Name'), required: true }] },
    });
    host.uiPrompts.open();
    const answer = await host.uiPrompts.wait(requestId);
    tell(answer.status === 'ok' ? say(`你好，${answer.values.name}`, `Hello, ${answer.values.name}`) : say('没有回答', 'No answer'));
  }

  let stopListening = () => {};
  async function chat() {
    //zh createForApp 创建的智能体可以使用本应用的工具。
    //en The agent that createForApp makes may use the tools of this app.
    const { agent } = await host.chat.agents.createForApp({ prompt: say('请简短回答。', 'Be brief.') });
    const { session } = await host.chat.sessions.create({ agentId: agent.id, title: say('来自应用', 'From the app') });
    let text = '';
    stopListening();
    stopListening = host.chat.events.subscribe({ sessionId: session.id }, (event) => {
      if (event.type !== 'assistant_delta') return;
      text += event.delta;
      tell(text);
    });
    await host.chat.send({ sessionId: session.id, text: say('请用 echo 工具说“你好”。', 'Say “hello” with the echo tool.') });
  }

  function draw() {
    const { theme, surface, lang } = host.context.get();
    fill(container, h('div', { class: 'page' },
      h('p', {}, say(`主题 ${theme}，界面 ${surface}，语言 ${lang}`, `theme ${theme}, surface ${surface}, language ${lang}`)),
      h('div', { class: 'row' },
        action(say('呼叫后端', 'Ping the backend'), ping),
        action(say('问我', 'Ask me'), ask),
        action(say('对话', 'Chat'), chat)),
      output));
  }

  slots.header.textContent = "__PLUGIN_NAME__";
  const stopTheme = host.theme.onChange(draw);
  draw();
  return () => {
    stopTheme();
    stopListening();
  };
}
