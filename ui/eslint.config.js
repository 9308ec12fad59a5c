// Lints, and the import directions of the page:
//   protocol <- api <- state <- features -> components;  i18n and theme are seen by all and see none.
// `host` (the parent half of the app bridge) sees protocol, api and frame; only features/apps and
// features/views, which show frames, see `host`. What one feature shows of another comes through slots.ts.
// features/dev, the page of `chatos dev`, is made of the others' parts and sees them all; only App.svelte sees it.
// `frame` (what runs inside app frames) sees the Markdown renderer of components and nothing else.
import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const FEATURES = ['agents', 'apps', 'changes', 'chat', 'prompts', 'runs', 'settings', 'shell', 'signin', 'tasks', 'views'];
/** Features that show frames. */
const FRAMES = ['apps', 'views'];

/** Forbids the named top folders of src/ to the files of one folder. */
function layer(folder, forbidden, why) {
  return {
    files: [`src/${folder}/**/*.{ts,svelte}`],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        // `@codemirror/state` is not ours.
        { patterns: [{ group: [...forbidden.flatMap((name) => [`**/${name}`, `**/${name}/**`]), '!@codemirror/**'], message: why }] },
      ],
    },
  };
}

const LAYERS = [
  layer('protocol', ['api', 'state', 'features', 'components', 'host', 'i18n'], 'protocol imports nothing of ours'),
  layer('i18n', ['api', 'state', 'features', 'components', 'host', 'protocol'], 'i18n imports nothing of ours'),
  layer('api', ['state', 'features', 'components', 'host', 'i18n'], 'api sees protocol only'),
  {
    files: ['src/frame/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['api', 'state', 'features', 'host', 'protocol', 'i18n'].flatMap((name) => [`../${name}/**`, `../../${name}/**`]),
              message: 'frame runs in the origin of a plugin and sees nothing of the page',
            },
          ],
        },
      ],
    },
  },
  layer('host', ['state', 'features', 'components', 'i18n'], 'host sees protocol and api only'),
  layer('state', ['features', 'components', 'host'], 'state sees protocol, api and i18n only'),
  layer('components', ['api', 'state', 'features', 'host', 'protocol'], 'components get data by props'),
  ...FEATURES.map((name) =>
    layer(
      `features/${name}`,
      [...FEATURES.filter((other) => other !== name).map((other) => `features/${other}`), ...FEATURES.filter((other) => other !== name).map((other) => `../${other}`)]
        .concat(FRAMES.includes(name) ? [] : ['host']),
      'features never import one another; only apps and views see host',
    ),
  ),
];

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'test-results/', 'src/protocol/wire.d.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-console': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      // Markdown.svelte is the one place with a reviewed exception.
      'svelte/no-at-html-tags': 'error',
      // A style attribute in markup is refused by the page's CSP; style: directives are not.
      'no-restricted-syntax': [
        'error',
        { selector: 'SvelteAttribute[key.name="style"]', message: 'the CSP refuses style attributes; use style: directives' },
      ],
      // Maps inside state classes are bookkeeping; what is shown is marked with $state by hand.
      'svelte/prefer-svelte-reactivity': 'off',
      // {' '} keeps a space that the compiler would trim.
      'svelte/no-useless-mustaches': 'off',
      // Hash routes are plain links here: there is no SvelteKit resolver.
      'svelte/no-navigation-without-resolve': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig },
    },
  },
  {
    files: ['scripts/**', '*.config.{js,ts}', 'tests/**'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
    rules: { 'no-console': 'off' },
  },
  ...LAYERS,
);
