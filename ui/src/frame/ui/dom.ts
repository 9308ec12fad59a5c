// Small helpers the shared modules are made of, for apps as well: make elements, add a style once.

export type Child = Node | string | null | undefined | false;
export type Properties = Record<string, unknown>;

/** `h('button', { class: 'x', onclick: f }, 'Save')`. Names starting with `on` are listeners; text is text. */
export function h(tag: string, properties: Properties = {}, ...children: (Child | Child[])[]): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on') && typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  fill(element, ...children);
  return element;
}

/** Replaces what an element holds. */
export function fill(element: Element, ...children: (Child | Child[])[]): void {
  element.replaceChildren(...children.flat().filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
}

/** Puts a style sheet into the head, once per name. */
export function addStyle(name: string, css: string): void {
  if (document.head.querySelector(`style[data-chatos="${name}"]`)) return;
  const style = document.createElement('style');
  style.dataset['chatos'] = name;
  style.textContent = css;
  document.head.append(style);
}

/** Two texts; the language of the frame decides. */
export function say(zh: string, en: string): string {
  return document.documentElement.lang.startsWith('zh') ? zh : en;
}
