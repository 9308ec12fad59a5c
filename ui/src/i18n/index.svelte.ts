// The language of the page. `i18n.t` is the dictionary of the chosen language; components that read
// it follow a change at once. Both dictionaries have one type, so a missing text does not compile.
// English comes with the page; Chinese is loaded where it is chosen, before anything is shown.

import { en } from './en';

export type Dictionary = typeof en;
export type Language = 'zh' | 'en';

const STORAGE_KEY = 'chatos.language';
const LOADERS: Record<Language, () => Promise<Dictionary>> = {
  en: () => Promise.resolve(en),
  zh: async () => (await import('./zh')).zh,
};

/** The language a browser asks for: Chinese in any form is zh, everything else is en. */
export function languageOf(tags: readonly string[]): Language {
  for (const tag of tags) {
    const primary = tag.toLowerCase().split('-')[0];
    if (primary === 'zh') return 'zh';
    if (primary === 'en') return 'en';
  }
  return 'en';
}

/** Formatters are costly to make and a list needs one per row, so each is made once per language. */
const formatters = new Map<string, unknown>();
function once<T>(key: string, make: () => T): T {
  const known = formatters.get(key) as T | undefined;
  if (known !== undefined) return known;
  const made = make();
  formatters.set(key, made);
  return made;
}

/** “3分钟前” as everything else on the page is written: “3 分钟前”. */
const apartFromHan = (text: string): string => text.replace(/(?<=\d)(?=\p{Script=Han})/u, ' ');

class I18n {
  language: Language = $state(stored() ?? languageOf(navigator.languages));
  t: Dictionary = $state.raw(en);
  #wanted: Language = this.language;
  /** The tag for Intl and for `<html lang>`. */
  readonly tag: string = $derived(this.language === 'zh' ? 'zh-CN' : 'en');

  /** Brings the words of the language, before the page is shown; where they cannot be had, the page is English. */
  async begin(): Promise<void> {
    await this.#show(this.language).catch(() => this.#show('en'));
  }

  async choose(language: Language): Promise<void> {
    localStorage.setItem(STORAGE_KEY, language);
    await this.#show(language);
  }

  /** Of two choices in a row the later one stays, whichever was loaded first. */
  async #show(language: Language): Promise<void> {
    this.#wanted = language;
    const dictionary = await LOADERS[language]();
    if (this.#wanted !== language) return;
    this.language = language;
    this.t = dictionary;
  }

  /** Picks a text the host sent in both languages; an empty one falls back to the other. */
  pick(text: { zh: string; en: string }): string {
    return (this.language === 'zh' ? text.zh : text.en) || text.en || text.zh;
  }

  /** Between a label and what it is the label of. */
  get colon(): string {
    return this.language === 'zh' ? '：' : ': ';
  }

  number(value: number): string {
    return once(`number ${this.tag}`, () => new Intl.NumberFormat(this.tag)).format(value);
  }

  bytes(value: number): string {
    const units = ['B', 'KiB', 'MiB', 'GiB'];
    let size = value;
    let unit = 0;
    while (size >= 1024 && unit < units.length - 1) {
      size /= 1024;
      unit += 1;
    }
    const digits = size < 10 && unit > 0 ? 1 : 0;
    const format = once(`bytes ${digits} ${this.tag}`, () => new Intl.NumberFormat(this.tag, { maximumFractionDigits: digits }));
    return `${format.format(size)} ${units[unit]}`;
  }

  /** The day alone, with its weekday. */
  day(moment: string | number | Date): string {
    const make = () => new Intl.DateTimeFormat(this.tag, { dateStyle: 'full' });
    return once(`day ${this.tag}`, make).format(new Date(moment));
  }

  dateTime(moment: string | number | Date): string {
    const make = () => new Intl.DateTimeFormat(this.tag, { dateStyle: 'medium', timeStyle: 'medium' });
    return once(`dateTime ${this.tag}`, make).format(new Date(moment));
  }

  /** A moment to come: nobody plans by the second. */
  toTheMinute(moment: string | number | Date): string {
    const make = () => new Intl.DateTimeFormat(this.tag, { dateStyle: 'medium', timeStyle: 'short' });
    return once(`toTheMinute ${this.tag}`, make).format(new Date(moment));
  }

  /** “3 minutes ago”; at most one unit, so it stays short in a list. */
  relative(moment: string | number | Date, now: number = Date.now()): string {
    const seconds = Math.round((new Date(moment).getTime() - now) / 1000);
    const format = once(`relative ${this.tag}`, () => new Intl.RelativeTimeFormat(this.tag, { numeric: 'auto' }));
    const steps: [Intl.RelativeTimeFormatUnit, number][] = [
      ['day', 86_400],
      ['hour', 3_600],
      ['minute', 60],
    ];
    for (const [unit, size] of steps) {
      if (Math.abs(seconds) >= size) return apartFromHan(format.format(Math.trunc(seconds / size), unit));
    }
    return Math.abs(seconds) < 5 ? this.t.common.justNow : apartFromHan(format.format(seconds, 'second'));
  }

  /** “2 d 4 h”, “3 min”: the two largest units of a duration. */
  duration(ms: number): string {
    const units = this.t.common.durationUnits;
    const parts: [number, string][] = [
      [Math.floor(ms / 86_400_000), units.day],
      [Math.floor(ms / 3_600_000) % 24, units.hour],
      [Math.floor(ms / 60_000) % 60, units.minute],
      [Math.floor(ms / 1000) % 60, units.second],
    ];
    const first = parts.findIndex(([count]) => count > 0);
    if (first < 0) return `0 ${units.second}`;
    return parts
      .slice(first, first + 2)
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count} ${unit}`)
      .join(' ');
  }
}

function stored(): Language | null {
  const value = localStorage.getItem(STORAGE_KEY);
  return value === 'zh' || value === 'en' ? value : null;
}

export const i18n = new I18n();

/** Texts apart from the main dictionary, so that the first view does not load them: those of the chosen language;
    components that read `t` follow a change. */
export function apart<T>(en: T, zh: T): { readonly t: T } {
  return {
    get t() {
      return i18n.language === 'zh' ? zh : en;
    },
  };
}
