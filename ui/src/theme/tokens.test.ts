import { describe, expect, test } from 'vitest';
import css from './tokens.css?raw';

/** The names that apps rely on (host-api §8). */
const API = `accent accent-2 accent-app page-bg header-bg header-border header-shadow panel-bg panel-border
  panel-shadow subtle-bg selected-bg splitter-bg text-primary text-secondary text-muted text-subtle tag-bg tag-text
  pill-flow-bg pill-flow-text pill-custom-bg pill-custom-text floating-bg floating-border floating-shadow focus-ring
  nav-bg nav-border nav-shadow nav-hover-bg change-bg-error change-bg-warning change-bg-success code-bg code-border
  code-text code-line-number code-inline-bg code-inline-border code-comment code-keyword code-string code-number
  code-built-in code-attr code-title code-meta blockquote-border blockquote-text`
  .split(/\s+/)
  .map((name) => `--ds-${name}`);

function block(selector: string): Map<string, string> {
  const start = css.indexOf(`${selector} {`);
  const body = css.slice(css.indexOf('{', start) + 1, css.indexOf('\n}', start));
  return new Map([...body.matchAll(/(--ds-[a-z0-9-]+):\s*([^;]+);/g)].map((match) => [match[1] ?? '', match[2] ?? '']));
}

const themes = { light: block(':root'), dark: block(":root[data-theme='dark']") };

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

describe.each(Object.entries(themes))('%s theme', (_name, tokens) => {
  const value = (name: string) => tokens.get(`--ds-${name}`) ?? '';

  test('has all 50 names of the API', () => {
    expect(API).toHaveLength(50);
    expect(API.filter((name) => !tokens.has(name))).toEqual([]);
  });

  const grounds = ['page-bg', 'panel-bg', 'subtle-bg', 'nav-bg', 'floating-bg'];
  const texts = ['text-primary', 'text-secondary', 'text-muted', 'text-subtle', 'danger-text', 'warning-text', 'success-text'];
  const pairs: [string, string, number][] = [
    ...grounds.flatMap((ground) => texts.map((text): [string, string, number] => [text, ground, 4.5])),
    ...['code-text', 'code-line-number', 'code-comment', 'code-keyword', 'code-string', 'code-number', 'code-built-in',
      'code-attr', 'code-title', 'code-meta', 'danger-text'].map((text): [string, string, number] => [text, 'code-bg', 4.5]),
    ['text-primary', 'selected-bg', 4.5],
    ['text-muted', 'nav-hover-bg', 4.5],
    ['text-primary', 'code-inline-bg', 4.5],
    ['text-secondary', 'change-bg-error', 4.5],
    ['text-secondary', 'change-bg-success', 4.5],
    ['code-text', 'change-bg-error', 4.5],
    ['code-text', 'change-bg-success', 4.5],
    ['danger-text', 'change-bg-error', 4.5],
    ['warning-text', 'change-bg-warning', 4.5],
    ['success-text', 'change-bg-success', 4.5],
    ['tag-text', 'tag-bg', 4.5],
    ['pill-flow-text', 'pill-flow-bg', 4.5],
    ['pill-custom-text', 'pill-custom-bg', 4.5],
    ['blockquote-text', 'page-bg', 4.5],
    ['on-accent', 'accent', 4.5],
    ['on-accent', 'accent-hover', 4.5],
    ['on-danger', 'danger', 4.5],
    ['on-danger', 'danger-hover', 4.5],
    ['accent', 'page-bg', 4.5],
    ['accent', 'panel-bg', 4.5],
    ['hub-text', 'hub-bg', 4.5],
    ['focus-ring', 'page-bg', 3],
    ['border-strong', 'panel-bg', 3],
    ['border-strong', 'page-bg', 3],
  ];

  test.each(pairs)('%s on %s reaches %f : 1', (text, ground, wanted) => {
    expect(contrast(value(text), value(ground))).toBeGreaterThanOrEqual(wanted);
  });
});
