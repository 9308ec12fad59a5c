//zh 紧凑视图：显示在其他页面旁边的窄栏中。
//en The compact view: a narrow panel beside other pages.

import { fill, h } from '../../common/ui/dom.mjs';

/** @param {import('../../types/host').MountArguments} given */
export function mount({ container, host }) {
  const zh = host.context.get().lang === 'zh';
  const output = h('output', {});
  const button = h('button', { type: 'button', onclick: async () => {
    const { pong } = await host.backend.invoke('ping', { from: 'compact' }).catch((error) => ({ pong: { from: error.message } }));
    fill(output, pong.from);
  } }, zh ? '呼叫后端' : 'Ping the backend');
  container.append(button, output);
  return () => container.replaceChildren();
}
