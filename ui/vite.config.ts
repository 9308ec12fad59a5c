// Build of the page that `chatos serve` embeds. Everything the browser loads is a hashed file
// under /assets, because the page's CSP allows neither inline scripts nor inline styles (security T3).
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

// `npm run dev` speaks to a running host; its Origin check wants the host's own origin.
const host = process.env.CHATOS_DEV_URL ?? 'http://127.0.0.1:7878';

/** What is loaded before anything can be read: the shell and the chat. Each has dozens of small modules that other
    pages use as well; left to itself the bundler makes a file of each, and the first view waits for all of them. */
const FIRST = ['src/main.ts', 'src/features/chat/ChatPage.svelte'];
const first = new Set<string>();
/** What the rail leads to. The small components they share would be a file and a style sheet each: thirty requests for
    the first visit of a page. They are one file, and what only one page uses stays with it. */
const RAIL = ['prompts/QueuePage', 'tasks/TasksPage', 'apps/AppsPage', 'agents/AgentsPage', 'agents/agents/AgentsTab', 'agents/models/ModelsTab', 'settings/SettingsPage', 'settings/servers/ServersTab', 'runs/RunsPage', 'changes/ChangesPage'];
const shared = new Set<string>();

function chunks(): Plugin {
  return {
    name: 'chunks',
    apply: 'build',
    buildEnd() {
      const ids = [...this.getModuleIds()];
      const visit = (id: string, seen: Set<string>): Set<string> => {
        if (seen.has(id)) return seen;
        seen.add(id);
        this.getModuleInfo(id)?.importedIds.forEach((other) => visit(other, seen));
        return seen;
      };
      for (const id of ids) if (FIRST.some((name) => id.endsWith(`/${name}`))) visit(id, first);
      const pages = RAIL.map((name) => {
        const id = ids.find((other) => other.endsWith(`/src/features/${name}.svelte`));
        if (id === undefined) throw new Error(`vite.config.ts: there is no page ${name}`);
        return visit(id, new Set());
      });
      for (const id of ids) {
        if (!first.has(id) && /\/(src\/components|node_modules)\//.test(id) && pages.filter((page) => page.has(id)).length > 1) shared.add(id);
      }
    },
  };
}

export default defineConfig({
  plugins: [svelte(), chunks()],
  base: '/',
  // Workers load grammars when they need them (components/code.worker.ts).
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The first view is one file on purpose; `npm run size` keeps its limit.
    chunkSizeWarningLimit: 800,
    manifest: 'manifest.json',
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: { codeSplitting: { groups: [{ name: 'first', test: (id) => first.has(id), priority: 2 }, { name: 'parts', test: (id) => shared.has(id), priority: 1 }] } },
    },
  },
  server: {
    // The guide on the page is that of docs/.
    fs: { allow: ['..'] },
    proxy: {
      '/api': { target: host, changeOrigin: true, ws: true, headers: { origin: host } },
      '/healthz': { target: host, changeOrigin: true },
    },
  },
});
