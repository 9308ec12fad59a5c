// The real agents: where they are, how they are configured for a scripted model, how one task is given to them.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const NODE = process.env.PEER_NODE ?? process.execPath;
const ALL = process.env.AGENT_PEERS === 'all';
const base = (folder) => join(here, folder);
const arch = process.arch;

/** Writes a file and its folders. */
export function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text, null, 2));
}

/** Adds to a file of JSON, as a person who pastes. */
function merge(file, more, change = () => {}) {
  const settings = { ...(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}), ...more };
  change(settings);
  put(file, settings);
}

/** Programs in JavaScript are compiled once, not at every start. */
const CACHE = join(tmpdir(), 'chatos-agent-peers-compiled');

const quiet = (place) => ({
  PATH: `${dirname(NODE)}:${process.env.PATH}`,
  HOME: place.home,
  LANG: 'C.UTF-8',
  TERM: 'xterm',
  NO_COLOR: '1',
  // Nothing but loopback is reached.
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
  NODE_COMPILE_CACHE: CACHE,
});

/** `limit` sets the program's own time limit for a call of the gateway to ten seconds. */
export const AGENTS = {
  gemini: {
    title: 'Gemini CLI',
    program: base('node_modules/@google/gemini-cli/bundle/gemini.js'),
    // Its own settings allow the command here.
    goesOn: true,
    // Its hook can end the turn.
    stops: true,
    shell: (command) => ({ name: 'run_shell_command', input: { command, description: 'count' } }),
    configure(place, model) {
      put(join(place.home, '.gemini/settings.json'), {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        tools: { allowed: ['run_shell_command'] },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      });
      return { ...quiet(place), GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' };
    },
    client: 'gemini-cli',
    join(place, printed) {
      merge(join(place.home, '.gemini/settings.json'), JSON.parse(printed), (settings) => (settings.mcpServers.chatos.trust = true));
    },
    limit: (place) => merge(join(place.home, '.gemini/settings.json'), {}, (settings) => (settings.mcpServers.chatos.timeout = 10_000)),
    argv() {
      return [NODE, this.program, '--model', 'gemini-2.5-pro', '-p', 'count once'];
    },
  },
  claude: {
    title: 'Claude Code',
    program: base(`all/node_modules/@anthropic-ai/claude-code-linux-${arch}/claude`),
    install: ['--every-call'],
    stops: true,
    shell: (command) => ({ name: 'Bash', input: { command, description: 'count' } }),
    configure(place, model) {
      put(join(place.home, '.claude.json'), { hasCompletedOnboarding: true });
      return {
        ...quiet(place), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none', DISABLE_AUTOUPDATER: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1',
        // All tools are shown at once: the scripted model does not search.
        ENABLE_TOOL_SEARCH: 'false',
      };
    },
    client: 'claude-code',
    join(place, printed) {
      put(join(place.project, '.mcp.json'), printed);
      merge(join(place.home, '.claude/settings.json'), { enableAllProjectMcpServers: true, permissions: { allow: ['mcp__chatos'] } });
    },
    limit: (place) => merge(join(place.project, '.mcp.json'), {}, (settings) => (settings.mcpServers.chatos.timeout = 10_000)),
    argv() {
      return [this.program, '-p', 'count once'];
    },
  },
  codex: {
    title: 'codex',
    program: base(`all/node_modules/@openai/codex-linux-${arch}/vendor/${arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl/bin/codex`),
    // Outside its own sandbox, which is when it asks.
    shell: (command) => ({ name: 'exec_command', input: { cmd: command, sandbox_permissions: 'require_escalated', justification: 'count' } }),
    configure(place, model) {
      const provider = `name = "scripted"\nbase_url = "${model.url}/v1"\nwire_api = "responses"\n`;
      put(
        join(place.home, '.codex/config.toml'),
        `model = "scripted"\nmodel_provider = "scripted"\ncheck_for_update_on_startup = false\n\n[analytics]\nenabled = false\n\n[model_providers.scripted]\n${provider}`,
      );
      return quiet(place);
    },
    client: 'codex',
    join(place, printed) {
      const file = join(place.home, '.codex/config.toml');
      put(file, `${readFileSync(file, 'utf8')}\n${printed}`);
    },
    limit(place) {
      const file = join(place.home, '.codex/config.toml');
      put(file, readFileSync(file, 'utf8').replace(/^tool_timeout_sec = .*$/m, 'tool_timeout_sec = 10'));
    },
    argv() {
      return [NODE, base('codex.mjs'), this.program, 'count once'];
    },
  },
  opencode: {
    title: 'opencode',
    program: base(`all/node_modules/opencode-linux-${arch}/bin/opencode`),
    shell: (command) => ({ name: 'bash', input: { command, description: 'count' } }),
    configure(place, model) {
      put(join(place.home, '.config/opencode/opencode.json'), {
        $schema: 'https://opencode.ai/config.json',
        model: 'scripted/scripted',
        small_model: 'scripted/scripted',
        autoupdate: false,
        share: 'disabled',
        permission: { bash: 'allow', edit: 'allow' },
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible', name: 'scripted', options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
            models: { scripted: { name: 'scripted', tool_call: true, limit: { context: 100000, output: 1000 } } },
          },
        },
      });
      // It fetches this package for whoever has plugins, and waits for it; nothing is fetched here.
      const folder = join(place.home, '.config/opencode');
      const version = '1.18.33';
      const dependencies = { '@opencode-ai/plugin': version };
      put(join(folder, 'node_modules/@opencode-ai/plugin/package.json'), { name: '@opencode-ai/plugin', version, main: 'index.js' });
      put(join(folder, 'node_modules/@opencode-ai/plugin/index.js'), 'export {};\n');
      put(join(folder, 'package.json'), { dependencies });
      put(join(folder, 'package-lock.json'), { lockfileVersion: 3, packages: { '': { dependencies }, 'node_modules/@opencode-ai/plugin': { version } } });
      return { ...quiet(place), OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' };
    },
    client: 'opencode',
    join(place, printed) {
      merge(join(place.home, '.config/opencode/opencode.json'), JSON.parse(printed));
    },
    limit: (place) => merge(join(place.home, '.config/opencode/opencode.json'), {}, (settings) => (settings.mcp.chatos.timeout = 10_000)),
    argv() {
      return [this.program, 'run', 'count once'];
    },
  },
};

/** The agents of this run, and why one of them cannot be tested here. All have to be there when all are wanted. */
export function wanted() {
  const all = Object.entries(AGENTS).filter(([, agent]) => ALL || !agent.program.includes('/all/'));
  return all.map(([word, agent]) => {
    const there = existsSync(agent.program);
    if (!there && ALL) throw new Error(`not installed: ${agent.program}`);
    return { word, agent, skip: there ? false : `${agent.title} could not be installed` };
  });
}

/** The process of `chatos WORD` on this home's state. */
export function processOf(word, place) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (words[1] === word && words.includes(place.state)) return Number(pid);
    } catch {
      // It ended meanwhile.
    }
  }
  throw new Error(`no process of chatos ${word}`);
}

/** Gives the agent its one task; ended with the test. */
export function begin(t, agent, place, env, more = []) {
  const [program, ...args] = [...agent.argv(), ...more];
  const child = spawn(program, args, { cwd: place.project, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const out = { text: '', child, done: undefined };
  child.stdout.on('data', (chunk) => (out.text += chunk));
  child.stderr.on('data', (chunk) => (out.text += chunk));
  out.done = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  t.after(() => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  });
  return out;
}
