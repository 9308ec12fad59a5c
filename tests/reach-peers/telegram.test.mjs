// A Bot API server of another maker: a chat is connected, a question is told with buttons, rejected there once, and the
// message says so.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';

import telegramTestApi from 'telegram-test-api';

import { chatos, eventually, home, serve } from '../mcp-peers/support.mjs';

const TelegramServer = telegramTestApi.default ?? telegramTestApi.TelegramServer ?? telegramTestApi;
const TOKEN = '4711:token-of-a-bot-for-tests';

/** A port nobody has. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function telegram(t) {
  const server = new TelegramServer({ port: await freePort(), host: '127.0.0.1', storeTimeout: 3600 });
  await server.start();
  t.after(() => server.stop());
  return server;
}

const bot = (server) => server.storage.botMessages.map(({ message }) => message);

test('a chat is connected, told, and answers once', { timeout: 120_000 }, async (t) => {
  const place = home(t);
  const server = await telegram(t);
  const host = await serve(t, place);
  const channel = await host.api('POST', 'channels', {
    type: 'telegram', name: 'phone', url: server.config.apiURL, secret: TOKEN, onMyNetwork: true, privacy: 'title', delay: 0, answer: 'reject',
  });
  assert.equal(channel.state, 'waiting');
  const anna = server.getClient(TOKEN, { userId: 42, chatId: 42, firstName: 'Anna', userName: 'anna' });
  await anna.sendCommand(anna.makeCommand(channel.connect.text));
  const mine = async () => (await host.api('GET', 'channels')).items.find(({ id }) => id === channel.id);
  const connected = await eventually('the chat is connected', async () => ((await mine()).state === 'ok' ? mine() : undefined));
  assert.equal(connected.person, 'Anna @anna');
  await eventually('the bot greets', () => bot(server).length === 1);

  const { requestId } = await host.api('POST', 'prompts', { prompt: { kind: 'choice', title: 'Blue or green?', options: [{ value: 'a' }, { value: 'b' }] } });
  const told = await eventually('the question is told', () => bot(server)[1]);
  assert.match(told.text, /Blue or green\?/);
  assert.equal(String(told.chat_id), '42');
  const buttons = told.reply_markup.inline_keyboard.flat();
  assert.deepEqual(buttons.map(({ text }) => text), ['Reject', 'Snooze 15 min']);

  // A stranger with the same button is nobody.
  const eve = server.getClient(TOKEN, { userId: 66, chatId: 66 });
  await eve.sendCallback(eve.makeCallbackQuery(buttons[0].callback_data));
  await anna.sendCallback(anna.makeCallbackQuery('0'.repeat(64)));
  await anna.sendCallback(anna.makeCallbackQuery(buttons[0].callback_data));
  const closed = await eventually('it is rejected', async () => {
    const item = await host.api('GET', `prompts/${requestId}`);
    return item.state === 'closed' ? item : undefined;
  });
  assert.equal(closed.answer.by, 'person:link:telegram');
  assert.equal(closed.answer.status, 'canceled');
  await eventually('the message says so', () => /Rejected$/.test(bot(server)[1].text));
  assert.deepEqual(bot(server)[1].reply_markup.inline_keyboard, []);
  const list = await chatos(place, ['reach', 'list']);
  assert.match(list.stdout, /Anna @anna · can reject and put off/);
  assert.ok(!list.stdout.includes('token-of-a-bot'));
});
