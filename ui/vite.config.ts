// Build of the page that `chatos serve` embeds. Everything the browser loads is a hashed file
// under /assets, because the page's CSP allows neither inline scripts nor inline styles (security T3).
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// `npm run dev` speaks to a running host; its Origin check wants the host's own origin.
const host = process.env.CHATOS_DEV_URL ?? 'http://127.0.0.1:7878';

export default defineConfig({
  plugins: [svelte()],
  base: '/',
  // Workers load grammars when they need them (components/code.worker.ts).
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: 'manifest.json',
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: {
    proxy: {
      '/api': { target: host, changeOrigin: true, ws: true, headers: { origin: host } },
      '/healthz': { target: host, changeOrigin: true },
    },
  },
});
