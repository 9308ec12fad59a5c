// The one place where the page's state is put together: each resource, its events, and what
// happens when a session starts or ends. Features import from here and build nothing themselves.

import { ChatApi, RunsApi } from '../api/chat';
import { Client } from '../api/client';
import { Http } from '../api/http';
import { PromptsApi } from '../api/prompts';
import { ToolsApi } from '../api/tools';
import { i18n } from '../i18n/index.svelte';
import { Beginning } from './beginning';
import { Chat } from './chat.svelte';
import { BrowserOutbox } from './chat/outbox';
import { Events } from './events.svelte';
import { Host } from './host.svelte';
import { Install } from './install.svelte';
import { browserKeys } from './keys';
import { Operations } from './operations.svelte';
import { Panel } from './panel.svelte';
import { Plugins } from './plugins.svelte';
import { Prompts } from './prompts.svelte';
import { Desktop } from './prompts/desktop.svelte';
import { Runs } from './runs.svelte';
import { Session } from './session.svelte';
import { Settings } from './settings.svelte';
import { Journal, Tasks } from './tasks.svelte';
import { Theme } from './theme.svelte';
import { Toasts } from './toasts.svelte';
import { Tools } from './tools.svelte';
import { Tour } from './tour.svelte';

export { describe } from './describe';
export { toApiError } from '../api/error';
export type { ApiError } from '../api/error';

const beginning = new Beginning();

export const http: Http = new Http({
  ready: () => beginning.waiting,
  token: () => session.token,
  language: () => i18n.language,
  renew: (token) => session.renew(token),
  onUnauthorized: () => refused(),
});

export const client = new Client(http);
export const session: Session = new Session(client, browserKeys, new BroadcastChannel('chatos.session'));
export const theme = new Theme();
export const toasts = new Toasts();
export const host = new Host(client);
export const settings = new Settings(client);
export const plugins = new Plugins(client);
export const prompts: Prompts = new Prompts({
  api: new PromptsApi(http),
  onArrivals: (items) => desktop.arrivals(items),
});
export const desktop = new Desktop({
  enabled: () => settings.value('promptNotifications') !== false,
  minimal: () => settings.value('uiPromptLogMode') === 'minimal',
  isClosed: (id) => prompts.isClosed(id),
  open: (id) => prompts.openHub(id, true),
});
export const panel = new Panel();
export const tasks = new Tasks(client);
export const journal = new Journal(client);
export const tools = new Tools(new ToolsApi(http));
export const operations = new Operations(client);
export const install = new Install(client, operations);
export const runs = new Runs(new RunsApi(http));
export const chat: Chat = new Chat({
  api: new ChatApi(http),
  follow: (topic, listener) => events.on(topic, listener),
  outbox: new BrowserOutbox(),
  onLost: (what) => (what === 'sent' ? toasts.error(i18n.t.chat.outgoing.chatGone, i18n.t.chat.outgoing.chatGoneHint) : toasts.info(i18n.t.chat.outgoing.draftKept, i18n.t.chat.outgoing.draftKeptHint)),
});
export const tour = new Tour({ chat, api: chat.api, tools: new ToolsApi(http), http });
export const events = new Events(
  async () => (await client.ticket()).ticket,
  (message) => toasts.error(i18n.t.shell.unexpected, message),
);

/** State of pages that are loaded later, and so cannot be named here. */
interface Joined {
  /** Reads again what has been looked at. */
  refresh: () => Promise<void>;
  clear: () => void;
}
const joined = new Set<Joined>();

export function joinSession(state: Joined): void {
  joined.add(state);
}

events.on('admin', (frame) => {
  chat.onAdmin(frame);
  settings.onEvent(frame);
  operations.onEvent(frame);
  tasks.onEvent(frame);
  journal.onEvent(frame);
});
// An old cookie was shown with the right key: somebody else may use a copy of that browser's profile.
events.on('admin', (frame) => {
  if (frame.type !== 'browser_revoked') return;
  const { name, reused } = frame.data as { name: string; reused: boolean };
  if (!reused) return;
  void import('../i18n/browsers').then(({ browserWords }) => toasts.error(browserWords.t.reused(name), browserWords.t.reusedHint));
});
events.on('plugins', (frame) => {
  plugins.onEvent(frame);
  void loadStatus();
});
events.on('prompts', (frame) => prompts.onEvent(frame));
events.on('logs', (frame) => tools.onEvent(frame));
events.on('runs', (frame) => {
  chat.onEvent(frame);
  runs.onEvent(frame);
});
events.on('host', (frame) => {
  if (frame.type === 'notice') void loadStatus();
});
events.onResync(() => {
  // Nothing was read yet, so nothing is out of date.
  if (beginning.end()) return;
  http.forget();
  void loadStatus();
  void refreshAll();
  prompts.resync();
  chat.resync();
  runs.resync();
});

events.onOpen(() => chat.flush());

/** Reads the status and hands its counts on. */
export async function loadStatus(): Promise<void> {
  const mark = prompts.countsMark;
  await host.status.load();
  if (host.status.data && !host.status.error) session.prove();
  prompts.setCounts(host.status.data?.counts ?? null, mark);
}

/** The next sign-in goes on with what is on the page. */
let resumes = false;

/** Called once when the page has a session: reads what the shell shows and follows events. */
export function startSession(): void {
  // Signed in again in the middle of work: what the page shows was read before, and the stream has it read again.
  if (!resumes) beginning.begin();
  resumes = false;
  void loadStatus();
  // Whether a new prompt may be announced on the desktop is a setting.
  if (desktop.permission === 'granted') void settings.list.load();
  // How many chats run and how many were interrupted is shown on every page.
  void chat.sessions.load();
  void runs.loadInterrupted();
  // A browser that keeps nothing has nothing to take up.
  void chat.restore().catch(() => undefined);
  // Who is told elsewhere; a page that cannot say it is only told twice.
  void import('./presence').then(({ watchPresence }) => watchPresence(), () => undefined);
  events.start();
}

/** The host no longer knows this browser: it was started anew, or somebody signed out. What is on the page stays, so
    that nothing written is lost; it goes on when somebody has signed in. */
function refused(): void {
  if (session.lapsed) return;
  resumes = session.refuse();
  if (resumes) events.stop();
  else endSession();
}

/** Ends the session on the host, too; this tab forgets it even when the host does not answer. */
export async function signOut(): Promise<void> {
  try {
    await client.signOut();
  } catch (thrown) {
    toasts.failure(thrown);
  }
  endSession();
}

export function endSession(): void {
  resumes = false;
  events.stop();
  beginning.end();
  session.end();
  http.forget();
  host.clear();
  settings.clear();
  plugins.clear();
  tasks.clear();
  journal.clear();
  prompts.clear();
  panel.close();
  tools.clear();
  for (const state of joined) state.clear();
  chat.clear();
  runs.clear();
}

/** Texts from the host come in the page's language, so a change of language reads them again. */
export async function chooseLanguage(language: 'zh' | 'en'): Promise<void> {
  await i18n.choose(language);
  if (session.status === 'signedIn') {
    void loadStatus();
    void refreshAll();
    prompts.resync();
  }
}

async function refreshAll(): Promise<void> {
  await Promise.all([settings.list.refresh(), plugins.listing.refresh(), host.doctor.refresh(), tasks.list.refresh(), journal.page.refresh(), tools.resync(), ...[...joined].map((state) => state.refresh())]);
}
