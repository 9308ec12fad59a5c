//zh 给智能体用的工具。每个工具都能独立说明自己：模型只看得到名字、说明和参数。
//en The tools for agents. Each explains itself: a model sees its name, its description and its parameters only.

import { ToolError, createServer, dataDirOf, serveStdio } from '../../lib/mcp.mjs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

//zh 一个会记住内容的计数器：数据放在宿主给出的数据目录里。
//en A counter that remembers: its data lies in the directory the host names.
const count = {
  name: 'count',
  description: 'Adds to a named counter and returns its value. 给指定的计数器加上一个数并返回当前值。',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Letters, digits and dashes. 字母、数字和连字符。' },
      by: { type: 'integer', description: '1 when absent. 默认为 1。' },
    },
    required: ['name'],
  },
  async run({ name, by = 1 }, { meta }) {
    if (!/^[a-z0-9-]{1,64}$/i.test(name)) throw new ToolError('invalid_argument', '"name" may hold letters, digits and dashes');
    const dir = dataDirOf(meta);
    await mkdir(dir, { recursive: true });
    const path = join(dir, `${name}.txt`);
    const before = await readFile(path, 'utf8').catch((error) => {
      if (error.code === 'ENOENT') return '0';
      throw error;
    });
    const value = Number(before) + by;
    await writeFile(path, String(value));
    return { name, value };
  },
};

serveStdio(createServer({ name: '__PLUGIN_ID__', version: '__VERSION__', tools: [count] }));
