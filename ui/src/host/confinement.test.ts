import { expect, test } from 'vitest';
import { findConfinement, type Try } from './confinement';

const LOCAL = { hostname: '127.0.0.1', port: '7878', origin: 'http://127.0.0.1:7878' } as Location;
const NAMED = { hostname: 'box.lan', port: '7878', origin: 'http://box.lan:7878' } as Location;
const OWN = 'http://p-probe.localhost:7878/__chatos';

/** A browser in which requests from frames at these addresses leave, or not; others are not answered. */
function browser(answers: Record<string, boolean>): { attempt: Try; asked: string[] } {
  const asked: string[] = [];
  const attempt: Try = async (url, opaque) => {
    asked.push(`${url}${opaque ? ' opaque' : ''}`);
    return answers[url] ?? null;
  };
  return { attempt, asked };
}

test('full only when the header held back what leaves without it', async () => {
  for (const [free, confined, found] of [[true, false, 'full'], [true, true, 'partial'], [false, false, 'partial']] as const) {
    const { attempt } = browser({ [`${OWN}/probe`]: free, [`${OWN}/confined`]: confined });
    expect(await findConfinement(LOCAL, attempt)).toBe(found);
  }
});

test('a probe that does not answer proves nothing', async () => {
  const incomplete: Record<string, boolean>[] = [{}, { [`${OWN}/confined`]: false }, { [`${OWN}/probe`]: true }];
  for (const answers of incomplete) {
    expect(await findConfinement(LOCAL, browser(answers).attempt)).toBe('partial');
  }
});

test('where plugins have no origins of their own, frames below the page are measured', async () => {
  const below = (place: Location) => `${place.origin}/plugin-frame/probe/__chatos`;
  for (const place of [LOCAL, NAMED]) {
    const { attempt, asked } = browser({ [`${below(place)}/probe`]: true, [`${below(place)}/confined`]: false });
    expect(await findConfinement(place, attempt)).toBe('full');
    expect(asked.slice(-2)).toEqual([`${below(place)}/probe opaque`, `${below(place)}/confined opaque`]);
    expect(asked.length).toBe(place === LOCAL ? 4 : 2);
  }
});
