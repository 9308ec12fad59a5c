//zh 每个应用都有页面；这一个只说明工具在哪里。
//en Every app has a page; this one only says where the tools are.

/** @param {import('../../types/host').MountArguments} given */
export function mount({ container, host }) {
  container.textContent = host.context.get().lang === 'zh'
    ? '这个应用为智能体提供工具。请在“智能体”中选择它。'
    : 'This app has tools for agents. Choose it in an agent.';
}
