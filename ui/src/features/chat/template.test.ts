import { describe, expect, it } from 'vitest';
import { fillTemplate, placesOf } from './template';

describe('addresses with places', () => {
  it('names each place once; those of a query may stay empty', () => {
    expect(placesOf('file://{+path}/x{?page,size*}{page}')).toEqual([
      { name: 'path', required: true },
      { name: 'page', required: true },
      { name: 'size', required: false },
    ]);
    expect(placesOf('demo://plain')).toEqual([]);
  });

  it('fills them in the ways of RFC 6570', () => {
    const values = { id: 'a b/c', path: 'x/y', q: "it's", none: '' };
    expect(fillTemplate('demo://{id}', values)).toBe('demo://a%20b%2Fc');
    expect(fillTemplate('demo://{+path}{/id}{?q,none}', values)).toBe('demo://x/y/a%20b%2Fc?q=it%27s');
    expect(fillTemplate('demo://x{?none}{&q}{#path}', values)).toBe('demo://x&q=it%27s#x/y');
  });
});
