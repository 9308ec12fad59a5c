// The page's half of the board: views, pins, a stand-up text, and whether the team board is there.

import { join } from 'node:path';

import { DEFAULT_VIEW, arrange, toMarkdown } from '../lib/board.mjs';
import { ToolError } from '../lib/mcp.mjs';
import { BoardStore } from '../lib/store.mjs';

const TEAM_URL = 'http://127.0.0.1:7979/healthz';
const TEAM_WAIT_MS = 1_500;

export async function createUiAppsBackend(ctx) {
  const store = new BoardStore(join(ctx.dataDir, 'board'));

  const methods = {
    'board.read': () => store.read(),
    'views.save': (params) => store.saveView(object(params)),
    'views.delete': (params) => store.deleteView(text(params, 'id')),
    'pins.add': (params) => store.pin(text(params, 'taskId'), object(params).note ?? ''),
    'pins.remove': (params) => store.unpin(text(params, 'taskId')),

    /** A few lines for the morning: from a model when there is one, else the board itself. */
    'standup.write': async (params, call) => {
      const { tasks = [], lang = 'en' } = object(params);
      if (!Array.isArray(tasks)) throw new ToolError('invalid_argument', 'tasks must be a list');
      const board = toMarkdown(DEFAULT_VIEW, arrange(DEFAULT_VIEW, tasks.slice(0, 200)));
      const llm = (call ?? ctx).llm ?? ctx.llm;
      if (!llm) return { text: board, model: null };
      const { content, model } = await llm.complete({
        systemPrompt:
          'From this task board write a stand-up of at most six lines: done, doing, blocked, next. ' +
          `Use only what the board says. Language: ${lang === 'zh' ? 'Chinese' : 'English'}.`,
        input: board,
        disableTools: true,
      });
      return { text: content, model: model ?? null };
    },

    'team.status': async (_params, call) => {
      const timeout = AbortSignal.timeout(TEAM_WAIT_MS);
      const signal = call?.signal ? AbortSignal.any([timeout, call.signal]) : timeout;
      try {
        const answer = await fetch(TEAM_URL, { signal });
        return { reachable: answer.ok, dataDir: ctx.dataDir, pluginDir: ctx.pluginDir };
      } catch (error) {
        return { reachable: false, reason: error.cause?.code ?? error.name, dataDir: ctx.dataDir, pluginDir: ctx.pluginDir };
      }
    },
  };

  return { methods, async dispose() {} };
}

function object(params) {
  if (params === undefined || params === null) return {};
  if (typeof params !== 'object' || Array.isArray(params)) {
    throw new ToolError('invalid_argument', 'params must be an object');
  }
  return params;
}

function text(params, key) {
  const value = object(params)[key];
  if (typeof value !== 'string' || value === '') throw new ToolError('invalid_argument', `${key} is required`);
  return value;
}
