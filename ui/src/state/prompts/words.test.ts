import { expect, test } from 'vitest';
import { i18n } from '../../i18n/index.svelte';
import type { Answer, PromptItem } from './item';
import { outcomeOf } from './words';

test.each([
  ['file_change_confirm', { status: 'ok', by: 'person:ui' }, 'Approved', '已同意'],
  ['task_confirm', { status: 'canceled', by: 'person:cli' }, 'Rejected', '已拒绝'],
  // Nobody rejected what the asker itself gave up, or what ran out of time.
  ['file_change_confirm', { status: 'canceled', by: 'host:abort' }, 'Canceled', '已取消'],
  ['file_change_confirm', { status: 'timeout', by: 'host:timeout' }, 'Timed out', '已超时'],
  ['kv', { status: 'canceled', by: 'person:ui' }, 'Canceled', '已取消'],
  ['kv', { status: 'canceled', by: 'person:ui', declined: true }, 'Declined', '已拒绝'],
])('the outcome of %s with %j is “%s”', async (kind, answer, en, zh) => {
  const said = (): string => outcomeOf({ kind } as PromptItem, answer as Answer);
  await i18n.choose('en');
  expect(said()).toBe(en);
  await i18n.choose('zh');
  expect(said()).toBe(zh);
});
