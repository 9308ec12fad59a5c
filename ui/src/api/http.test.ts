import { describe, expect, test, vi } from 'vitest';
import { ApiError, toApiError } from './error';
import { Http } from './http';

function setup(answer: (url: string, init: RequestInit) => Response | Promise<Response>) {
  const calls: { url: string; init: RequestInit }[] = [];
  const onUnauthorized = vi.fn();
  const http = new Http({
    token: () => 'secret',
    language: () => 'zh',
    onUnauthorized,
    fetch: (async (url: string, init: RequestInit) => {
      calls.push({ url, init });
      return answer(url, init);
    }) as typeof fetch,
  });
  return { http, calls, onUnauthorized };
}

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(value), { status, headers });

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  return promise.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => toApiError(error),
  );
}

describe('requests', () => {
  test('carry token and language, writes carry JSON', async () => {
    const { http, calls } = setup(() => json({ ok: true }));
    await http.put('/x', { value: 1 });
    const headers = calls[0]?.init.headers as Headers;
    expect(headers.get('Authorization')).toBe('Bearer secret');
    expect(headers.get('Accept-Language')).toBe('zh');
    expect(headers.get('Content-Type')).toBe('application/json');
    expect(calls[0]?.init.body).toBe('{"value":1}');
    expect(calls[0]?.init.credentials).toBe('omit');
  });

  test('an anonymous call sends no token', async () => {
    const { http, calls } = setup(() => json({}));
    await http.post('/x', {}, { anonymous: true });
    expect((calls[0]?.init.headers as Headers).has('Authorization')).toBe(false);
  });

  test('query values are encoded and empty ones left out', async () => {
    const { http, calls } = setup(() => json({}));
    await http.get('/x', { query: { q: 'a b&c', none: null, empty: '', n: 0, deep: false } });
    expect(calls[0]?.url).toBe('/x?q=a+b%26c&n=0&deep=false');
  });

  test('an unchanged snapshot is answered from memory', async () => {
    let first = true;
    const { http, calls } = setup((_url, init) => {
      if (!first) {
        expect((init.headers as Headers).get('If-None-Match')).toBe('"7"');
        return new Response(null, { status: 304 });
      }
      first = false;
      return json({ revision: 7 }, 200, { ETag: '"7"' });
    });
    expect(await http.get('/plugins')).toEqual({ revision: 7 });
    expect(await http.get('/plugins')).toEqual({ revision: 7 });
    expect(calls).toHaveLength(2);
    http.forget();
    first = true;
    await http.get('/plugins');
    expect((calls[2]?.init.headers as Headers).has('If-None-Match')).toBe(false);
  });

  test('an empty answer is undefined', async () => {
    const { http } = setup(() => new Response('', { status: 204 }).clone());
    expect(await http.delete('/x')).toBeUndefined();
  });
});

describe('failures', () => {
  test('keep code, message, hint and field errors of the host', async () => {
    const errors = [{ path: '/value', code: 'out_of_range', message: 'too big', hint: 'less' }];
    const { http } = setup(() => json({ error: { code: 'invalid_argument', message: 'no', hint: 'h', details: { errors } } }, 422));
    const error = await failure(http.put('/x', {}));
    expect(error).toMatchObject({ status: 422, code: 'invalid_argument', message: 'no', hint: 'h' });
    expect(error.fields).toEqual(errors);
  });

  test('field errors of another shape are ignored, not trusted', () => {
    const error = new ApiError(422, 'x', 'm', null, { errors: [{ path: 1 }, null, 'text'] });
    expect(error.fields).toEqual([]);
  });

  test('a 401 ends the session, but not for an anonymous call', async () => {
    const { http, onUnauthorized } = setup(() => new Response(null, { status: 401 }));
    expect((await failure(http.get('/x'))).code).toBe('unauthorized');
    expect(onUnauthorized).toHaveBeenCalledTimes(1);
    await failure(http.post('/x', {}, { anonymous: true }));
    expect(onUnauthorized).toHaveBeenCalledTimes(1);
  });

  test('a token that ended is renewed and the call made once more', async () => {
    let token = 'old';
    const sent: (string | null)[] = [];
    const renewed = vi.fn(() => {
      token = 'new';
      return Promise.resolve(true);
    });
    const onUnauthorized = vi.fn();
    const http = new Http({
      token: () => token,
      language: () => 'en',
      renew: renewed,
      onUnauthorized,
      fetch: ((_: string, init: RequestInit) => {
        sent.push(new Headers(init.headers).get('Authorization'));
        return Promise.resolve(token === 'new' ? json({ ok: true }) : new Response(null, { status: 401 }));
      }) as typeof fetch,
    });
    expect(await http.post('/x', {})).toEqual({ ok: true });
    expect(sent).toEqual(['Bearer old', 'Bearer new']);
    expect(renewed).toHaveBeenCalledWith('old');
    expect(onUnauthorized).not.toHaveBeenCalled();
  });

  test('text that is not our error object is kept', async () => {
    const { http } = setup(() => new Response('<h1>Bad gateway</h1>', { status: 502 }));
    expect(await failure(http.get('/x'))).toMatchObject({ status: 502, code: 'page_bad_answer', message: '<h1>Bad gateway</h1>' });
  });

  test('a good status with a broken body is an error', async () => {
    const { http } = setup(() => new Response('{"half":', { status: 200 }));
    expect(await failure(http.get('/x'))).toMatchObject({ status: 200, code: 'page_bad_answer' });
  });

  test('an unreachable host', async () => {
    const { http } = setup(() => Promise.reject(new TypeError('Failed to fetch')));
    expect(await failure(http.get('/x'))).toMatchObject({ status: 0, code: 'page_unreachable' });
  });

  test('a connection of a host that has gone: what reads is asked once more, what writes never', async () => {
    let calls = 0;
    const { http } = setup(() => (calls += 1) % 2 === 1 ? Promise.reject(new TypeError('Failed to fetch')) : Promise.resolve(new Response('{"a":1}')));
    expect(await http.get('/x')).toEqual({ a: 1 });
    expect(calls).toBe(2);
    expect(await failure(http.post('/x', {}))).toMatchObject({ code: 'page_unreachable' });
    expect(calls).toBe(3);
  });

  test('a canceled call', async () => {
    const canceled = new AbortController();
    const { http } = setup((_url, init) => new Promise((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    }));
    const pending = failure(http.get('/x', { signal: canceled.signal }));
    canceled.abort();
    expect((await pending).code).toBe('page_canceled');
  });

  test('a host that does not answer in time', async () => {
    const { http } = setup((_url, init) => new Promise((_resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(new DOMException('timeout', 'TimeoutError')));
    }));
    expect((await failure(http.get('/x', { timeoutMs: 1 }))).code).toBe('page_timeout');
  });
});
