// The tokens apps may use, with their values in the theme on screen, read from the page's own stylesheet.

/** Names of host-api §8 begin like this; others of the page are not for apps. */
const OURS = /^--ds-(accent|page|header|panel|subtle|selected|splitter|text|tag|pill|floating|focus|nav|change|code|blockquote)/;

let names: string[] | null = null;

function all(): string[] {
  names ??= [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule): rule is CSSStyleRule => rule instanceof CSSStyleRule && rule.selectorText.includes(':root'))
    .flatMap((rule) => [...rule.style].filter((name) => OURS.test(name)));
  return (names = [...new Set(names)]);
}

/** `theme` is asked for so that whoever shows them follows a change. */
export function tokensOf(theme: 'light' | 'dark'): { name: string; value: string }[] {
  const style = getComputedStyle(document.documentElement);
  return theme === undefined ? [] : all().map((name) => ({ name, value: style.getPropertyValue(name).trim() }));
}
