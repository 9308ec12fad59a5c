// Documents of a person in a real Chromium (working-day §7, §9): a PDF and a Word file go with a message and the model
// reads them; one behind a password goes by its name; a message is deleted after a question; a chat goes out as a file
// and comes back to be read.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { test } from './fixtures';
import { ModelServer } from './model-server';
import { keep } from './pictures';

/** Made by `make.py` there. */
const FOLDER = join(import.meta.dirname, '../../../crates/chatos-cli/tests/documents');
const document = (name: string) => ({ name, mimeType: '', buffer: readFileSync(join(FOLDER, name)) });

const WORDS = {
  en: {
    message: 'Message', files: 'Attached files', failed: 'Not sent', nameOnly: 'Send only its name', only: 'Only the name was sent', scanned: 'Scanned: hardly any text could be read',
    delete: 'Delete', asked: 'This message and everything after it, 2 messages in all, will be permanently deleted.', cancel: 'Cancel', actions: /^Actions for/, export: 'Export…', save: 'Export',
    readOnly: 'This chat was imported and is read-only.', copy: 'Continue in a copy', broken: 'not JSON',
  },
  zh: {
    message: '消息', files: '已添加的文件', failed: '未发送', nameOnly: '只发送文件名', only: '只发送了文件名', scanned: '扫描件：几乎没有可读取的文字',
    delete: '删除', asked: '此消息及其后续内容（共 2 条消息）将被永久删除。', cancel: '取消', actions: /的操作$/, export: '导出…', save: '导出',
    readOnly: '此对话由文件导入，只能阅读，不能继续输入。', copy: '在副本中继续', broken: '不是有效的 JSON',
  },
};

async function say(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(text);
  await page.keyboard.press('Enter');
}

describe.each(['en', 'zh'] as const)('documents (%s)', (language) => {
  const w = WORDS[language];

  test('a PDF and a Word file reach the model; what cannot be read goes by its name', async ({ ownHost, open, onTestFinished }) => {
    const host = await ownHost();
    const server = await ModelServer.start('');
    onTestFinished(() => server.stop());
    server.decide = () => ({ text: 'I have read it.' });
    const model = await host.api<{ id: string }>('POST', 'models', { name: 'Reads', provider: 'openai', model: 'tiny', baseUrl: server.baseUrl, apiKeyName: '' });
    const { id } = await host.api<{ id: string }>('POST', 'sessions', { title: 'River', modelId: model.id });
    const page = await open({ host, at: `#/chat/${id}`, language, expectConsole: /status of 422/ });
    const picker = page.locator('[data-composer] input[type="file"]');
    await picker.setInputFiles([document('report.pdf'), document('minutes.docx')]);
    await page.getByRole('list', { name: w.files }).getByText('minutes.docx').waitFor();
    await keep(page, `documents-${language}-1-attached`);
    await say(page, w.message, 'What is decided?');
    await page.locator('[data-row="user"]').getByRole('link', { name: 'report.pdf' }).waitFor();
    await page.locator('[data-row="assistant"]').getByText('I have read it.').waitFor();
    const heard = JSON.stringify(server.requests.at(-1)?.body.messages);
    expect(heard).toContain('[page 1 of 30]');
    expect(heard).toContain('the canary-docx sings');

    // Behind a password: the person decides to send the name. A scan is sent and said to be one.
    await picker.setInputFiles([document('locked.pdf'), document('scanned.pdf')]);
    await page.getByRole('list', { name: w.files }).getByText('scanned.pdf').waitFor();
    await say(page, w.message, 'And this?');
    await page.getByRole('alert').getByText(w.failed).waitFor();
    await keep(page, `documents-${language}-2-refused`);
    await page.getByRole('button', { name: w.nameOnly }).click();
    const second = page.locator('[data-row="user"]').nth(1);
    await second.getByText(w.only).waitFor();
    await second.getByText(w.scanned).waitFor();
    await expect.poll(() => page.locator('[data-row="assistant"]').count()).toBe(2);
    await keep(page, `documents-${language}-3-sent`);
    await expect.poll(() => JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('[file locked.pdf: ');

    // Deleted after a question that says how much goes.
    await second.hover();
    await second.getByRole('button', { name: w.delete }).click();
    await page.getByRole('dialog').getByText(w.asked).waitFor();
    await keep(page, `documents-${language}-4-delete`);
    await page.getByRole('dialog').getByRole('button', { name: w.cancel }).click();
    await second.hover();
    await second.getByRole('button', { name: w.delete }).click();
    await page.getByRole('dialog').getByRole('button', { name: w.delete }).click();
    await expect.poll(() => page.locator('[data-row="user"]').count()).toBe(1);

    // Out as a file, and back to be read.
    await page.getByRole('button', { name: w.actions }).last().click();
    await page.getByRole('menuitem', { name: w.export }).click();
    await page.getByRole('radio', { name: /^JSON/ }).check();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: w.save, exact: true }).click()]);
    const file = readFileSync(await download.path());
    await page.locator('[data-import]').setInputFiles({ name: 'broken.json', mimeType: 'application/json', buffer: Buffer.from('{') });
    await page.getByText(w.broken).first().waitFor();
    await page.locator('[data-import]').setInputFiles({ name: 'chat.json', mimeType: 'application/json', buffer: file });
    await page.getByText(w.readOnly).waitFor();
    expect(page.url()).not.toContain(id);
    await page.locator('[data-row="assistant"]').getByText('I have read it.').waitFor();
    expect(await page.getByLabel(w.message, { exact: true }).count()).toBe(0);
    await keep(page, `documents-${language}-5-imported`);
    await page.setViewportSize({ width: 400, height: 800 });
    await keep(page, `documents-${language}-6-narrow`);
    await page.getByRole('button', { name: w.copy }).click();
    await page.getByLabel(w.message, { exact: true }).waitFor();
    await page.locator('[data-row="assistant"]').getByText('I have read it.').waitFor();
  });
});
