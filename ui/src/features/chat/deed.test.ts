// A card never says that something was done before, or without, its being done (issue 21, fault 16).

import { expect, test } from 'vitest';
import { deeds as en } from '../../i18n/en/deeds';
import { deeds as zh } from '../../i18n/zh/deeds';
import { Entry, ToolCall } from '../../state/chat/entry.svelte';
import { deedOf } from './deed';

function call(tool: string, status: string | null, more: { asked?: boolean; args?: object } = {}): ToolCall {
  const made = new ToolCall('c', 'r');
  made.take({ tool, args: more.args ?? {} });
  if (more.asked) made.requestId = 'q';
  if (status !== null) {
    made.result = new Entry('t', 'tool');
    made.result.status = status;
    made.result.isError = ['error', 'denied', 'timeout', 'invalid', 'not_found'].includes(status);
  }
  return made;
}

test.each([
  ['waits for leave', call('write_file', null, { asked: true }), true, 'Wants to write', '想要写入'],
  ['at work', call('write_file', null), true, 'Writing', '正在写入'],
  ['done', call('write_file', 'ok'), false, 'Wrote', '已写入'],
  ['tried out only', call('write_file', 'ok', { args: { dry_run: true } }), false, 'Would write', '试运行：写入'],
  ['shown only', call('lsp_rename', 'ok', { args: { new_name: 'x' } }), false, 'Would rename', '试运行：重命名'],
  ['applied', call('lsp_rename', 'ok', { args: { new_name: 'x', apply: true } }), false, 'Renamed', '已重命名'],
  ['refused', call('run_shell_command', 'denied'), false, 'Wasn’t allowed to run', '未获同意，没有执行'],
  ['declined', call('run_shell_command', 'canceled'), false, 'Didn’t run', '没有执行'],
  ['failed', call('run_shell_command', 'timeout'), false, 'Failed to run', '执行失败'],
  ['never ended', call('delete_path', null), false, 'Was about to delete', '正要删除时中断'],
  ['a question', call('prompt_choices', null, { asked: true }), true, 'Asking you', '正在向你提问'],
  ['a tool of somebody else', call('frobnicate', null), true, 'frobnicate', 'frobnicate'],
])('%s', (_name, made, live, english, chinese) => {
  expect([deedOf(made, live, en), deedOf(made, live, zh)]).toEqual([english, chinese]);
});

test('both languages know the same tools', () => {
  expect(Object.keys(zh.tools)).toEqual(Object.keys(en.tools));
});
