// Unit tests: pure modules and state classes, in a small DOM. Tests sit beside what they test.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [svelte()],
  // The guide on the page is that of docs/.
  server: { fs: { allow: ['..'] } },
  resolve: { conditions: ['browser'] },
  test: {
    include: ['src/**/*.test.ts', 'tests/unit/**/*.test.ts'],
    environment: 'happy-dom',
    // The token test reads the stylesheet itself.
    css: true,
    restoreMocks: true,
    // For what hangs, not for what is slow: a small machine runs these next to other steps.
    testTimeout: 60_000,
  },
});
