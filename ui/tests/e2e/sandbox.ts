// A running `chatos dev` on a project of `chatos plugin init`, in a temporary home.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { FrameLocator, Page } from 'playwright-core';
import { builtPage, chatosBinary } from './programs';

interface Ready {
  url: string;
  signInUrl: string;
  token: string;
  pid: number;
  stateDir: string;
  pluginId: string;
}

export class Sandbox {
  private constructor(
    readonly home: string,
    readonly dir: string,
    readonly ready: Ready,
    private readonly child: ChildProcess,
  ) {}

  /** A temporary home with a project in it. */
  static project(template: string, lang = 'en', id = `com.example.${template}`): { home: string; dir: string; id: string } {
    const home = mkdtempSync(join(tmpdir(), 'chatos-dev-'));
    const dir = join(home, 'project');
    run(home, ['plugin', 'init', dir, '-t', template, '--id', id, '--name', `My ${template}`, '--lang', lang, '--json']);
    return { home, dir, id };
  }

  /** A temporary home with a plugin of these files. */
  static files(id: string, files: Record<string, string>): { home: string; dir: string; id: string } {
    const home = mkdtempSync(join(tmpdir(), 'chatos-dev-'));
    const dir = join(home, 'project');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    return { home, dir, id };
  }

  static async start({ home, dir }: { home: string; dir: string }, ...more: string[]): Promise<Sandbox> {
    const page = existsSync(builtPage) ? ['--ui-dir', builtPage] : [];
    const args = ['dev', dir, '--no-open', '--ready-json', '--port', '0', ...page, ...more];
    const child = spawn(chatosBinary(), args, { cwd: home, env: environment(home), stdio: ['ignore', 'pipe', 'inherit'] });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`chatos dev ended with ${code} before it was ready`)));
    });
    return new Sandbox(home, dir, JSON.parse(line) as Ready, child);
  }

  /** A fresh one-time link. */
  async link(): Promise<string> {
    return (await this.api<{ signInUrl: string }>('POST', 'auth/link', {})).signInUrl;
  }

  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(new URL(`/api/v1/${path}`, this.ready.url), {
      method,
      headers: { Authorization: `Bearer ${this.ready.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Saves a file of the project with one text replaced by another. */
  edit(path: string, from: string | RegExp, to: string): void {
    const file = join(this.dir, path);
    const before = readFileSync(file, 'utf8');
    const after = before.replace(from, to);
    if (after === before) throw new Error(`${path} has no ${String(from)}`);
    writeFileSync(file, after);
  }

  /** Ctrl-C; the code it ends with. */
  async stop(): Promise<number | null> {
    const gone = new Promise<number | null>((resolve) => this.child.once('exit', (code) => resolve(code)));
    this.child.kill('SIGINT');
    const code = await gone;
    rmSync(this.home, { recursive: true, force: true });
    return code;
  }
}

/** Runs the program to its end. */
export function run(home: string, args: string[], cwd = home): string {
  return execFileSync(chatosBinary(), args, { cwd, env: environment(home), encoding: 'utf8' });
}

export function environment(home: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8' };
}

/** Opens the page of a sandbox and waits for its app. */
export async function openSandbox(page: Page, sandbox: Sandbox): Promise<FrameLocator> {
  await page.goto(await sandbox.link());
  return mounted(page);
}

export async function mounted(page: Page): Promise<FrameLocator> {
  await page.locator('[data-place][data-phase="mounted"]').waitFor();
  return page.frameLocator('.app-frames iframe:not([aria-hidden])');
}

export async function panel(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click();
}
