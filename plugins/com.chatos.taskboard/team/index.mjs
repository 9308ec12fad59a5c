// The team board's page: is its server there, and how to start it.

import { cleanup, fill, h, pickLanguage } from '../lib/dom.mjs';
import { style } from '../board/style.mjs';
import { words } from '../board/words.mjs';

export async function mount({ container, host }) {
  const t = pickLanguage(host, words);
  const undo = cleanup();
  const page = h('div', { class: 'page' });

  async function check() {
    let status;
    try {
      status = await host.backend.invoke('team.status');
    } catch (error) {
      fill(page, h('div', { class: 'notice error', role: 'alert' }, t.failed(error.message)));
      return;
    }
    const command = 'CHATOS_DATA_DIR=<data> node team/http-server.mjs --port 7979 --token-file <secret>'
      .replace('<data>', quote(status.dataDir));
    fill(page,
      h('p', { role: 'status' }, h('strong', {}, status.reachable ? t.teamUp : t.teamDown)),
      status.reachable ? null : h('div', {}, h('p', {}, t.teamSteps), h('ol', {},
        h('li', {}, t.teamStep1),
        h('li', {}, t.teamStep2, h('pre', {}, `cd ${quote(status.pluginDir)}\n${command}`)),
        h('li', {}, t.teamStep3))),
      h('div', { class: 'row' },
        h('button', { class: 'button primary', type: 'button', onclick: check }, t.check), ' ',
        h('button', { class: 'button', type: 'button', onclick: () => host.ui.navigate('admin/mcp') }, t.openServers)));
  }

  container.append(h('style', {}, style), h('div', { class: 'board' }, page));
  undo.add(() => container.replaceChildren());
  await check();
  return () => undo.run();
}

/** A path as a shell takes it. */
function quote(path) {
  return /^[\w./-]+$/u.test(path) ? path : `'${String(path).replaceAll("'", "'\\''")}'`;
}
