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

function firstView(): Plugin {
  return {
    name: 'first-view',
    apply: 'build',
    buildEnd() {
      const visit = (id: string): void => {
        if (first.has(id)) return;
        first.add(id);
        this.getModuleInfo(id)?.importedIds.forEach(visit);
      };
      for (const id of this.getModuleIds()) if (FIRST.some((name) => id.endsWith(`/${name}`))) visit(id);
    },
  };
}

export default defineConfig({
  plugins: [svelte(), firstView()],
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
      output: { codeSplitting: { groups: [{ name: 'first', test: (id) => first.has(id) }] } },
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
