// Addresses with places in braces (RFC 6570): which places there are, and the address once they are filled.

const PLACES = /\{([+#./;?&]?)([^{}]+)\}/gu;
/** What stands before the first value and between two, whether values are named, and whether addresses may stand in them. */
const WAYS: Record<string, [string, string, boolean, boolean]> = {
  '': ['', ',', false, false],
  '+': ['', ',', false, true],
  '#': ['#', ',', false, true],
  '.': ['.', '.', false, false],
  '/': ['/', '/', false, false],
  ';': [';', ';', true, false],
  '?': ['?', '&', true, false],
  '&': ['&', '&', true, false],
};
const nameOf = (place: string): string => place.replace(/(?:\*|:\d+)$/u, '');

/** The names of the places, each once; those of a query may stay empty. */
export function placesOf(template: string): { name: string; required: boolean }[] {
  const found = new Map<string, boolean>();
  for (const [, way = '', list = ''] of template.matchAll(PLACES)) {
    for (const place of list.split(',')) found.set(nameOf(place), (found.get(nameOf(place)) ?? false) || !'?&;'.includes(way) || way === '');
  }
  return [...found].map(([name, required]) => ({ name, required }));
}

export function fillTemplate(template: string, values: Record<string, string>): string {
  return template.replace(PLACES, (_, way: string, list: string) => {
    const [first, between, named, whole] = WAYS[way] ?? ['', ',', false, false];
    const written = list.split(',').flatMap((place) => {
      const value = values[nameOf(place)] ?? '';
      if (value === '') return [];
      const safe = whole ? encodeURI(value) : encodeURIComponent(value).replace(/[!'()*]/gu, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
      return [named ? `${nameOf(place)}=${safe}` : safe];
    });
    return written.length === 0 ? '' : first + written.join(between);
  });
}
