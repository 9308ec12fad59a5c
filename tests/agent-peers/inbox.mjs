// A host as these tests use it: an agent in it, and the questions a person sees and answers.

import { eventually } from '../mcp-peers/support.mjs';

/** Makes an agent with these built-in servers; with an address, it has the scripted model there. Gives its id. */
export async function agent(host, servers, url, name = 'a') {
  const order = { name, mode: 'flow' };
  if (url !== undefined) {
    await host.api('PUT', 'secrets/SCRIPTED', { value: 'none' });
    const model = { name: 'scripted', provider: 'openai', baseUrl: `${url}/v1`, model: 'scripted', apiKeyName: 'SCRIPTED' };
    order.modelId = (await host.api('POST', 'models', model)).id;
  }
  const { items } = await host.api('GET', 'mcp-servers');
  const mcpServers = items.filter(({ name }) => servers.includes(name)).map(({ id }) => ({ id }));
  order.landConfigId = (await host.api('POST', 'land-configs', { name: `for ${name}`, main: { mcpServers }, sub: {} })).id;
  return (await host.api('POST', 'agents', order)).id;
}

/** Questions that wait for a person. A host that has just started reads its log first, and says so. */
export const open = (host) =>
  eventually('the questions', async () => {
    try {
      return (await host.api('GET', 'prompts?view=needs_you')).items;
    } catch (error) {
      if (/"code":"loading"/.test(error.message)) return undefined;
      throw error;
    }
  });

/** The next of them. */
export const question = (host) => eventually('the question', async () => (await open(host))[0]);

/** The question of a program that takes its time to start, and may fail to. */
export async function questionOf(host, run) {
  const until = Date.now() + 180_000;
  for (;;) {
    const [item] = await open(host);
    if (item) return item;
    if (run.child.exitCode !== null) throw new Error(`the agent ended with ${run.child.exitCode}:\n${run.text}`);
    if (Date.now() > until) throw new Error(`the agent never asked:\n${run.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const answer = (host, item, response) => host.api('POST', `prompts/${item.requestId}/response`, { response, shown: item.shown });
