// A server behind a sign-in, and the place where one signs in, in one process for tests: an MCP server that
// wants a bearer token, an authorization server with registration, PKCE, rotating refresh tokens and
// revocation, and a control that tests turn. Prints its port as a line of JSON.

import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

const clients = new Map();
const codes = new Map();
/** access token → { scopes, until, refresh, family } */
const tokens = new Map();
/** refresh token → { scopes, client, family, used } */
const refreshes = new Map();
const log = { registrations: 0, refreshes: 0, renewing: 0, gone: 0, reused: 0, refused: 0, revoked: [], given: [], calls: 0, asked: [] };
const control = { lifetime: 3600, register: true, refuseRefresh: false, hold: false, places: [], documents: false };
const word = (kind) => `${kind}-canary-${randomBytes(24).toString('base64url')}`;
const note = (text) => (log.given.push(text), text);

let base = '';
const server = createServer(async (request, response) => {
  const url = new URL(request.url, base);
  let body = '';
  for await (const piece of request) body += piece;
  const json = (status, value, headers = {}) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(value === undefined ? '' : JSON.stringify(value));
  };
  const route = `${request.method} ${url.pathname}`;
  if (route === 'POST /mcp') return mcp(request, body, json);
  if (request.method === 'GET' && url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
    return json(200, { resource: `${base}/mcp`, authorization_servers: [...control.places.map((place) => `${base}${place}`), base], scopes_supported: ['notes.read', 'notes.write'] });
  }
  const described = '/.well-known/oauth-authorization-server';
  if (request.method === 'GET' && ['', ...control.places].some((place) => url.pathname === `${described}${place}`)) {
    return json(200, {
      issuer: `${base}${url.pathname.slice(described.length)}`,
      authorization_endpoint: `${base}/authorize`,
      token_endpoint: `${base}/token`,
      revocation_endpoint: `${base}/revoke`,
      ...(control.register ? { registration_endpoint: `${base}/register` } : {}),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: control.documents,
    });
  }
  if (route === 'POST /register') {
    const id = `client-${++log.registrations}`;
    clients.set(id, JSON.parse(body).redirect_uris);
    return json(201, { client_id: id, redirect_uris: clients.get(id), token_endpoint_auth_method: 'none' });
  }
  if (route === 'GET /authorize') return authorize(url, response);
  if (route === 'GET /decide') return decide(url, response, json);
  if (route === 'POST /token') {
    const form = new URLSearchParams(body);
    if (form.get('grant_type') === 'refresh_token') {
      log.renewing += 1;
      while (control.hold && !request.socket.destroyed) await new Promise((done) => setTimeout(done, 5));
      log.renewing -= 1;
      // Who asked is gone: nothing is decided.
      if (request.socket.destroyed) return void (log.gone += 1);
    }
    return token(form, json);
  }
  if (route === 'POST /revoke') {
    const gone = new URLSearchParams(body).get('token');
    log.revoked.push(gone);
    refreshes.delete(gone);
    for (const [name, kept] of tokens) if (name === gone || kept.refresh === gone) tokens.delete(name);
    return json(200, {});
  }
  if (route === 'POST /control') {
    const wanted = JSON.parse(body);
    if (wanted.expire) for (const kept of tokens.values()) kept.until = 0;
    return json(200, Object.assign(control, wanted));
  }
  if (route === 'GET /log') return json(200, log);
  return json(404, { error: 'not_found' });
});

function authorize(url, response) {
  const { searchParams: asked } = url;
  const known = clients.get(asked.get('client_id'));
  const wrong =
    !known?.includes(asked.get('redirect_uri')) || asked.get('code_challenge_method') !== 'S256' || asked.get('resource') !== `${base}/mcp` || !asked.get('state');
  log.asked.push(asked.get('scope') ?? '');
  response.writeHead(wrong ? 400 : 200, { 'Content-Type': 'text/html; charset=utf-8' });
  response.end(
    wrong
      ? '<title>wrong</title><p>wrong request'
      : `<!doctype html><title>Example login</title><h1>Example login</h1>
<a id="allow" href="/decide?allow=1&amp;${url.search.slice(1).replaceAll('&', '&amp;')}">Allow</a>
<a id="deny" href="/decide?allow=0&amp;${url.search.slice(1).replaceAll('&', '&amp;')}">Deny</a>`,
  );
}

function decide(url, response, json) {
  const { searchParams: asked } = url;
  if (!clients.get(asked.get('client_id'))?.includes(asked.get('redirect_uri'))) return json(400, { error: 'invalid_request' });
  const back = new URL(asked.get('redirect_uri'));
  if (asked.get('allow') === '1') {
    const code = note(word('code'));
    codes.set(code, { challenge: asked.get('code_challenge'), redirect: asked.get('redirect_uri'), client: asked.get('client_id'), scopes: asked.get('scope') ?? '' });
    back.searchParams.set('code', code);
  } else {
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<b>no</b>');
  }
  back.searchParams.set('state', asked.get('state'));
  back.searchParams.set('iss', base);
  response.writeHead(302, { Location: back.href });
  response.end();
}

function token(form, json) {
  const refused = (error) => json(400, { error });
  let scopes;
  let family = randomBytes(8).toString('hex');
  if (form.get('grant_type') === 'authorization_code') {
    const code = codes.get(form.get('code'));
    codes.delete(form.get('code'));
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    if (!code || code.challenge !== verifier || code.redirect !== form.get('redirect_uri') || code.client !== form.get('client_id')) return refused('invalid_grant');
    ({ scopes } = code);
  } else {
    const kept = refreshes.get(form.get('refresh_token'));
    if (!kept || control.refuseRefresh || kept.client !== form.get('client_id')) return refused('invalid_grant');
    if (kept.used) {
      // Somebody has a copy: whoever signed in must do it again.
      log.reused += 1;
      for (const all of [tokens, refreshes]) for (const [name, other] of all) if (other.family === kept.family) all.delete(name);
      return refused('invalid_grant');
    }
    kept.used = true;
    log.refreshes += 1;
    ({ scopes, family } = kept);
  }
  const [access, refresh] = [note(word('access')), note(word('refresh'))];
  tokens.set(access, { scopes: scopes.split(' '), until: Date.now() + control.lifetime * 1000, refresh, family });
  refreshes.set(refresh, { scopes, client: form.get('client_id'), family, used: false });
  return json(200, { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: control.lifetime, scope: scopes });
}

function mcp(request, body, json) {
  const bearer = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  const kept = tokens.get(bearer);
  const where = `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`;
  if (!kept || kept.until < Date.now()) log.refused += 1;
  if (!kept || kept.until < Date.now()) return json(401, { error: 'unauthorized' }, { 'WWW-Authenticate': `${where}, scope="notes.read"` });
  const message = JSON.parse(body);
  if (message.id === undefined) return json(202);
  const answer = (result) => json(200, { jsonrpc: '2.0', id: message.id, result });
  const schema = { type: 'object', properties: {} };
  switch (message.method) {
    case 'initialize':
      return answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.0.0' } });
    case 'tools/list':
      return answer({ tools: [{ name: 'read', description: 'Reads the notes.', inputSchema: schema }, { name: 'write', description: 'Writes a note.', inputSchema: schema }] });
    case 'tools/call': {
      const needed = message.params.name === 'write' ? 'notes.write' : 'notes.read';
      if (!kept.scopes.includes(needed)) return json(403, { error: 'forbidden' }, { 'WWW-Authenticate': `${where}, error="insufficient_scope", scope="${needed}"` });
      log.calls += 1;
      return answer({ content: [{ type: 'text', text: `${message.params.name} done` }] });
    }
    default:
      return json(200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } });
  }
}

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  base = `http://127.0.0.1:${server.address().port}`;
  console.log(JSON.stringify({ port: server.address().port }));
});
