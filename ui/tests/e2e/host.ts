// A real host in a temporary home: started with port 0, stopped by its process id.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { builtPage, chatosBinary } from './programs';

/** The line `chatos serve --ready-json` prints. */
interface Ready {
  url: string;
  signInUrl: string;
  port: number;
  token: string;
  pid: number;
  stateDir: string;
  version: string;
}

export interface HostOptions {
  env?: Record<string, string>;
  args?: string[];
  /** An existing home to start in again; it is then the caller's to remove. */
  home?: string;
  port?: number;
}

export class Host {
  #stderr: string[] = [];

  private constructor(
    readonly home: string,
    readonly ready: Ready,
    private readonly child: ChildProcess,
    private readonly ownsHome: boolean,
  ) {}

  static async start(options: HostOptions = {}): Promise<Host> {
    const home = options.home ?? mkdtempSync(join(tmpdir(), 'chatos-e2e-'));
    const args = ['serve', '--port', String(options.port ?? 0), '--no-open', '--ready-json', '--state-dir', join(home, 'state')];
    if (existsSync(builtPage)) args.push('--ui-dir', builtPage);
    const child = spawn(chatosBinary(), [...args, ...(options.args ?? [])], {
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', CHATOS_SET_MCP_FIRST_WAIT_MS: '15000', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stderr: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk.toString()));
    const ready = await firstLine(child, stderr);
    const host = new Host(home, JSON.parse(ready) as Ready, child, options.home === undefined);
    host.#stderr = stderr;
    return host;
  }

  get url(): string {
    return this.ready.url;
  }

  get log(): string {
    return this.#stderr.join('');
  }

  /** Calls the API as the command line would. */
  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(new URL(`/api/v1/${path}`, this.url), {
      method,
      headers: { Authorization: `Bearer ${this.ready.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** A fresh one-time link, from the same command a person would run. */
  async signInLink(): Promise<string> {
    const out = await run(['open', '--no-open', '--json', '--state-dir', join(this.home, 'state')], this.home);
    return (JSON.parse(out) as { signInUrl: string }).signInUrl;
  }

  /** Ends the process and keeps its home. */
  async halt(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    await gone;
  }

  /** Ends the process and removes its home, if it was made for it. */
  async stop(): Promise<void> {
    await this.halt();
    if (this.ownsHome) rmSync(this.home, { recursive: true, force: true });
  }
}

function firstLine(child: ChildProcess, stderr: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { stdout } = child;
    if (!stdout) throw new Error('the host was started without stdout');
    createInterface({ input: stdout }).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`chatos serve ended with ${code} before it was ready\n${stderr.join('')}`)));
  });
}

function run(args: string[], home: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(chatosBinary(), args, { cwd: home, env: { PATH: process.env['PATH'] ?? '', HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve(out) : reject(new Error(`chatos ${args.join(' ')} ended with ${code}\n${err}`))));
  });
}
